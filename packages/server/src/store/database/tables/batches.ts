/** Tables of scheduled calls: batches, their calls, dial attempts, and the do-not-call list. */

import type { CallingHours, RetryPolicy, ScheduledCallStatus } from "@parley/schema";
import type {
  ColumnsOf,
  Defaulted,
  DefaultedJson,
  DefaultedTimestamp,
  Json,
  NullableTimestamp,
  Timestamp,
} from "./columns.ts";

/** Optional settings of a batch besides its window; unset ones are absent. */
export interface BatchExtensions {
  readonly name?: string;
  readonly retryPolicy?: RetryPolicy;
  readonly callingHours?: CallingHours;
  readonly maxAttemptsPerNumberPerDay?: number;
  readonly respectDoNotCall?: boolean;
  readonly pauseOnFailureRate?: number;
}

/** `[seconds since 1970, outcomes, failures]`, newest last. */
export type RecentOutcomes = readonly (readonly [number, number, number])[];

export interface ScheduledBatchesTable {
  id: string;
  account_id: string;
  agent_id: string;
  created_at: Timestamp;
  window_start_at: NullableTimestamp;
  window_end_at: NullableTimestamp;
  /** Name or id of a call throttle. */
  throttle: string | null;
  webhook_url: string | null;
  sealed_webhook_secret: string;
  /** At least one call is not dialled by the service. */
  needs_webhook: boolean;
  paused: Defaulted<boolean>;
  extensions: Json<BatchExtensions>;
  total_count: number;
  completed_count: Defaulted<number>;
  /** Of the completed calls, those with the status ERROR. */
  failed_count: Defaulted<number>;
  ended_at: NullableTimestamp;
  /** Set while the batch is being stored or erased. */
  hidden_until: NullableTimestamp;
  /** When its calls are claimed next. */
  turn_at: DefaultedTimestamp;
  waits_until: DefaultedTimestamp;
  recent_outcomes: DefaultedJson<RecentOutcomes>;
  pause_reason: string | null;
}

export const scheduledBatches: ColumnsOf<ScheduledBatchesTable> = {
  id: "uuid",
  account_id: "uuid",
  agent_id: "uuid",
  created_at: "timestamptz",
  window_start_at: "timestamptz null",
  window_end_at: "timestamptz null",
  throttle: "text null",
  webhook_url: "text null",
  sealed_webhook_secret: "text",
  needs_webhook: "boolean",
  paused: "boolean",
  extensions: "json",
  total_count: "integer",
  completed_count: "integer",
  failed_count: "integer",
  ended_at: "timestamptz null",
  hidden_until: "timestamptz null",
  turn_at: "timestamptz",
  waits_until: "timestamptz",
  recent_outcomes: "json",
  pause_reason: "text null",
};

export interface ScheduledCallsTable {
  batch_id: string;
  /** From 0. */
  position: number;
  status: Defaulted<ScheduledCallStatus>;
  document: Json;
  sealed_secrets: string | null;
  call_id: string | null;
  error: string | null;
  claim_id: string | null;
  leased_until: NullableTimestamp;
  /** Set when the call is about to be made. */
  intended_at: NullableTimestamp;
  due_at: DefaultedTimestamp;
  /** Ended attempts at the dialled number. */
  attempts: Defaulted<number>;
  /** Claims that ended without an outcome. */
  lapses: Defaulted<number>;
}

export const scheduledCalls: ColumnsOf<ScheduledCallsTable> = {
  batch_id: "uuid",
  position: "integer",
  status: "text",
  document: "json",
  sealed_secrets: "text null",
  call_id: "uuid null",
  error: "text null",
  claim_id: "uuid null",
  leased_until: "timestamptz null",
  intended_at: "timestamptz null",
  due_at: "timestamptz",
  attempts: "smallint",
  lapses: "smallint",
};

export interface DialAttemptsTable {
  account_id: string;
  number: string;
  dialled_at: Timestamp;
}

export const dialAttempts: ColumnsOf<DialAttemptsTable> = {
  account_id: "uuid",
  number: "text",
  dialled_at: "timestamptz",
};

export interface DoNotCallTable {
  account_id: string;
  number: string;
  note: string | null;
  search_text: string;
  created_at: Timestamp;
}

export const doNotCall: ColumnsOf<DoNotCallTable> = {
  account_id: "uuid",
  number: "text",
  note: "text null",
  search_text: "text",
  created_at: "timestamptz",
};
