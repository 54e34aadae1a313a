/** What identifies a batch, and its state, derived from its fields. */

import type { ScheduledCallBatch, ScheduledCallStatus } from "@parley/schema";
import type { Tone } from "../../ui/display.tsx";
import { momentText } from "../../ui/parts.tsx";

export interface BatchIds {
  readonly agent_id: string;
  readonly batch_id: string;
}

/** A batch without a name is called after the time of its creation. */
export function titleOf({ name, created }: Pick<ScheduledCallBatch, "name" | "created">): string {
  return name ?? `Batch of ${momentText(created)}`;
}

/** A name for a new batch: its agent and the day. */
export function suggestedName(agentName: string | undefined, nowMs: number): string {
  const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" }).format(nowMs);
  return agentName === undefined ? day : `${agentName}, ${day}`;
}

export type BatchState = "future" | "running" | "paused" | "ended" | "over";

export function stateOf(
  {
    endedAt,
    paused,
    windowStart,
    windowEnd,
  }: Pick<ScheduledCallBatch, "endedAt" | "paused" | "windowStart" | "windowEnd">,
  nowMs: number,
): BatchState {
  if (endedAt !== null) return "ended";
  if (windowEnd !== null && Date.parse(windowEnd) < nowMs) return "over";
  if (paused) return "paused";
  return windowStart !== null && Date.parse(windowStart) > nowMs ? "future" : "running";
}

export const STATES: Readonly<Record<BatchState, { readonly label: string; readonly tone: Tone }>> = {
  future: { label: "Scheduled", tone: "caller" },
  running: { label: "Running", tone: "good" },
  paused: { label: "Paused", tone: "warn" },
  ended: { label: "Ended", tone: "plain" },
  // The remaining calls expire at the next sweep of the service.
  over: { label: "Past end time", tone: "warn" },
};

export const STATUSES: Readonly<
  Record<ScheduledCallStatus, { readonly label: string; readonly tone: Tone }>
> = {
  FUTURE: { label: "Waiting", tone: "plain" },
  PENDING: { label: "Starting", tone: "caller" },
  SUCCESS: { label: "Created", tone: "good" },
  EXPIRED: { label: "Expired", tone: "warn" },
  ERROR: { label: "Failed", tone: "bad" },
};

export const STATUS_NAMES = Object.keys(STATUSES) as readonly ScheduledCallStatus[];
