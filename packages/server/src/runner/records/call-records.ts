/**
 * The records of a live call, as functions that `lifecycle/storage.ts` binds to the store. The runner calls them in the
 * order of events, one at a time per call, and retries a rejected one.
 */

import type { CallEngineSums, CallUseRecord, EndReason, TurnLatency } from "@parley/schema";
import type { CallSnapshot } from "../../call/adoption/snapshot.ts";
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
  /** What `eventChunk` was given, so that a reader notices what did not arrive. Null where no logs are stored. */
  readonly eventLog: EventLogTotals | null;
  /** Null: no engine was asked for anything. Unset in the journal of earlier versions. */
  readonly use?: CallUseRecord | null;
}

/** Enough to replay the end of a call that failed: `step` over `log.events`, starting from `log.state`. */
export interface FaultRecord {
  readonly plan: CallPlan;
  readonly error: string;
  readonly log: EventLog;
}

/** Failed tool invocations of a stage. */
export interface ToolFailures {
  readonly stageId: string;
  /** All of them so far, so that writing the same again changes nothing. */
  readonly failures: number;
}

/** What the model server counted in requests of a stage. */
export interface TokenCounts {
  readonly stageId: string;
  /** The first one of the stage that was reported. */
  readonly initial: number;
  readonly latest: number;
}

/** Tokens of all generations of side threads so far, so that writing the same again changes nothing. */
export interface SideTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What the queue of a call's records has counted, so that another process counts on. */
export interface RecordCounts {
  readonly versions: number;
  readonly toolFailures: readonly (readonly [string, number])[];
  readonly initialTokens: readonly (readonly [string, number])[];
}

/** What another process needs to continue the call, beside its plan. */
export interface SnapshotRecord {
  readonly snapshot: CallSnapshot;
  readonly counts: RecordCounts;
  /** Of its engines so far. */
  readonly use: readonly CallEngineSums[];
}

/** A record as it waits to be written. */
export type CallRecord =
  | { readonly kind: "joined"; readonly joined: JoinedRecord }
  | {
      readonly kind: "message";
      readonly message: MessageRecord;
      /** Counts the texts of the call, so that of two at one index the newer one stays. */
      readonly version: number;
    }
  | { readonly kind: "stage"; readonly stage: StageRecord }
  | { readonly kind: "toolFailed"; readonly toolFailed: ToolFailures }
  | { readonly kind: "tokensCounted"; readonly tokensCounted: TokenCounts }
  | { readonly kind: "sideTokensCounted"; readonly sideTokens: SideTokens }
  | {
      readonly kind: "callEvent";
      readonly event: CallEventRecord;
      /** A UUID: the event is stored once, however often it is written. */
      readonly key: string;
    }
  | { readonly kind: "eventChunk"; readonly chunk: EventChunk }
  | { readonly kind: "snapshot"; readonly snapshot: SnapshotRecord }
  | { readonly kind: "fault"; readonly fault: FaultRecord }
  | { readonly kind: "ended"; readonly ended: EndedRecord };

/**
 * Each may run twice for one record when its first attempt failed after writing, so writing the same again must
 * change nothing. A rejection that can never succeed (the call was deleted) should resolve instead.
 */
export interface CallRecords {
  joined(callId: string, record: JoinedRecord): Promise<void>;
  /** The same stage and index with the same or a higher version replaces the message. */
  message(callId: string, message: MessageRecord, version: number): Promise<void>;
  stage(callId: string, record: StageRecord): Promise<void>;
  toolFailed(callId: string, record: ToolFailures): Promise<void>;
  tokensCounted(callId: string, record: TokenCounts): Promise<void>;
  /** Lower counts than those stored change nothing. */
  sideTokensCounted(callId: string, record: SideTokens): Promise<void>;
  /** An event with the same `key` is not written again. */
  callEvent(callId: string, event: CallEventRecord, key: string): Promise<void>;
  /** A part of the call's event log. Not called where event logs are not stored. */
  eventChunk(callId: string, chunk: EventChunk): Promise<void>;
  /** Replaces the snapshot before. Only called where calls can be continued by another process. */
  snapshot(callId: string, record: SnapshotRecord): Promise<void>;
  fault(callId: string, record: FaultRecord): Promise<void>;
  /** The last record of a call, exactly once. */
  ended(callId: string, record: EndedRecord): Promise<void>;
  /** Gives the call up, so that any process may continue it. Called after everything else is written. */
  handOver(callId: string): Promise<void>;
  /** For the metrics; never throws. */
  turnLatency(callId: string, latency: TurnLatency): void;
}

export async function writeRecord(records: CallRecords, callId: string, record: CallRecord): Promise<void> {
  switch (record.kind) {
    case "joined":
      await records.joined(callId, record.joined);
      break;
    case "message":
      await records.message(callId, record.message, record.version);
      break;
    case "stage":
      await records.stage(callId, record.stage);
      break;
    case "toolFailed":
      await records.toolFailed(callId, record.toolFailed);
      break;
    case "tokensCounted":
      await records.tokensCounted(callId, record.tokensCounted);
      break;
    case "sideTokensCounted":
      await records.sideTokensCounted(callId, record.sideTokens);
      break;
    case "callEvent":
      await records.callEvent(callId, record.event, record.key);
      break;
    case "eventChunk":
      await records.eventChunk(callId, record.chunk);
      break;
    case "snapshot":
      await records.snapshot(callId, record.snapshot);
      break;
    case "fault":
      await records.fault(callId, record.fault);
      break;
    case "ended":
      await records.ended(callId, record.ended);
      break;
  }
}

/** The calls whose records the journal has. */
export interface JournalCall {
  readonly callId: string;
  /** The stage that an event about lost records belongs to. */
  readonly stageId: string;
}

/** Records on the disk of this node which the database did not take. They are written to it later, in their order. */
export interface RecordJournal {
  /**
   * Resolves when the records are safe on the disk. What a full journal refuses is lost, and the events of the call will
   * say so. Rejects when the disk does not take them.
   */
  append(call: JournalCall, records: readonly CallRecord[]): Promise<void>;
  /** True: records of the call are still to be written, so later ones must follow them into the journal. */
  has(callId: string): boolean;
}
