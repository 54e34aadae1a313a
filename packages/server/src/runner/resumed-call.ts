/** A call that this process continues after another one. */

import type { CallEngineSums } from "@parley/schema";
import type { CallSnapshot } from "../call/adoption/snapshot.ts";
import type { CallEngineEventBody } from "../call/events.ts";
import type { MessageRecord } from "../call/effects.ts";
import type { EventLogTotals } from "./records/event-chunks.ts";
import type { RecordCounts } from "./records/call-records.ts";

export interface ResumedCall {
  readonly snapshot: CallSnapshot;
  /** Messages that were stored after the snapshot. */
  readonly recorded: readonly MessageRecord[];
  /** Since the snapshot, by the clock of the database. */
  readonly elapsedMs: number;
  readonly counts: RecordCounts;
  readonly use: readonly CallEngineSums[];
  /** What is stored of the event log. */
  readonly eventLog: EventLogTotals;
}

/** The engine's time at which this process takes the call up; 0: it begins here. */
export function resumedAtMs(resumed: ResumedCall | null): number {
  return resumed === null ? 0 : resumed.snapshot.state.clock.atMs + Math.round(resumed.elapsedMs);
}

/** The media clock at a time of the engine: as if media had come all the time. */
export function mediaAtMs(resumed: ResumedCall | null, atMs: number): number {
  if (resumed === null) return 0;
  const { clock } = resumed.snapshot.state;
  return Math.max(clock.mediaMs, clock.mediaMs + atMs - clock.atMs);
}

/** Of `ConnectInfo`. */
interface Connecting {
  readonly experimentalMessages: readonly string[];
  readonly keepsAudio?: boolean;
}

/** How the call begins in this process: by the join of its client, or by the return of a client that another one had. */
export function firstEvent(
  resumed: ResumedCall | null,
  { experimentalMessages, keepsAudio }: Connecting,
  mediaMs: number,
): CallEngineEventBody {
  const audioFlag = keepsAudio === true ? { keepsAudio: true } : {};
  if (resumed !== null) {
    const { snapshot, recorded } = resumed;
    return { type: "adopted", snapshot, recorded, mediaMs, ...audioFlag };
  }
  const debug = experimentalMessages.includes("debug");
  const partials = experimentalMessages.includes("partials");
  return { type: "joined", debug, ...(partials ? { partials } : {}), ...audioFlag };
}
