/**
 * What a live call leaves behind, as functions that `main.ts` binds to the store. The runner calls them in the order
 * in which things happened, one at a time per call, and tries a rejected one again.
 */

import type { CallEventRecord, EndReason, MessageRecord, TurnLatency } from "../call/effects.ts";
import type { CallPlan, StagePlan } from "../call/plan.ts";
import type { EventLog } from "./event-log.ts";
import type { EventChunk, KeptTotals } from "./kept-events.ts";

export interface JoinedRecord {
  readonly joinedAt: Date;
  /** As the client named itself on the join URL, or null. */
  readonly clientVersion: string | null;
}

/** The stage of a call from now on. */
export interface StageRecord {
  readonly stage: StagePlan;
  /** False: it begins with initial messages of its own. */
  readonly inheritsMessages: boolean;
  readonly beganAt: Date;
}

export interface EndedRecord {
  readonly reason: EndReason;
  /** Null when nobody joined. */
  readonly joinedAt: Date | null;
  readonly endedAt: Date;
  /** For the operator; null when there is nothing to say. */
  readonly detail: string | null;
  readonly latestInputTokens: number | null;
  /** What was handed on by `eventChunk`, so that a reader notices what did not arrive. Null where no logs are kept. */
  readonly eventLog: KeptTotals | null;
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
  /** A part of the call's event log. Not called where event logs are not kept. */
  eventChunk(callId: string, chunk: EventChunk): Promise<void>;
  fault(callId: string, record: FaultRecord): Promise<void>;
  /** The last record of a call, exactly once. */
  ended(callId: string, record: EndedRecord): Promise<void>;
  /** For the metrics; never throws. */
  turnLatency(callId: string, latency: TurnLatency): void;
}
