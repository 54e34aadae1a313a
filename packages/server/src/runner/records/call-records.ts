/**
 * The records of a live call, as functions that `lifecycle/storage.ts` binds to the store. The runner calls them in the
 * order of events, one at a time per call, and retries a rejected one.
 */

import type { EndReason, TurnLatency } from "@parley/schema";
import type { CallEventRecord, MessageRecord } from "../../call/effects.ts";
import type { CallPlan, StagePlan } from "../../plan/plan.ts";
import type { EventLog } from "./event-log.ts";
import type { EventChunk, EventLogTotals } from "./event-chunks.ts";

export interface JoinedRecord {
  readonly joinedAt: Date;
  /** As the client named itself on the join URL, or null. */
  readonly clientVersion: string | null;
}

/** The stage of a call from now on. */
export interface StageRecord {
  readonly stage: StagePlan;
  /** False: it begins with its own initial messages. */
  readonly inheritsMessages: boolean;
  readonly beganAt: Date;
}

export interface EndedRecord {
  readonly reason: EndReason;
  /** Null when no one joined. */
  readonly joinedAt: Date | null;
  readonly endedAt: Date;
  /** For the operator; null when there is nothing to say. */
  readonly detail: string | null;
  readonly latestInputTokens: number | null;
  /** What `eventChunk` was given, so that a reader notices what did not arrive. Null where no logs are stored. */
  readonly eventLog: EventLogTotals | null;
}

/** Enough to replay the end of a call that failed: `step` over `log.events`, starting from `log.state`. */
export interface FaultRecord {
  readonly plan: CallPlan;
  readonly error: string;
  readonly log: EventLog;
}

/**
 * Each may run twice for one record when its first attempt failed after writing, so writing the same again must
 * change nothing. A rejection that can never succeed (the call was deleted) should resolve instead.
 */
export interface CallRecords {
  joined(callId: string, record: JoinedRecord): Promise<void>;
  /** The same stage and index again replaces the message. */
  message(callId: string, message: MessageRecord): Promise<void>;
  stage(callId: string, record: StageRecord): Promise<void>;
  /** One more failed tool invocation of the stage. */
  toolFailed(callId: string, record: { readonly stageId: string }): Promise<void>;
  callEvent(callId: string, event: CallEventRecord): Promise<void>;
  /** A part of the call's event log. Not called where event logs are not stored. */
  eventChunk(callId: string, chunk: EventChunk): Promise<void>;
  fault(callId: string, record: FaultRecord): Promise<void>;
  /** The last record of a call, exactly once. */
  ended(callId: string, record: EndedRecord): Promise<void>;
  /** For the metrics; never throws. */
  turnLatency(callId: string, latency: TurnLatency): void;
}
