/** What a batch is doing, from what the service tells of it. */

import type { ScheduledCallBatch, ScheduledCallStatus } from "@parley/schema";
import type { Tone } from "../../ui/display.tsx";

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
  future: { label: "Future", tone: "caller" },
  running: { label: "Running", tone: "good" },
  paused: { label: "Paused", tone: "warn" },
  ended: { label: "Ended", tone: "plain" },
  // What is left expires with the next look of the service.
  over: { label: "Window over", tone: "warn" },
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
