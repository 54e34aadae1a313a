/** Tables of transcripts: messages, their words for searches, events for operators, and event logs for replay. */

import type { Generated } from "kysely";
import type { ColumnsOf, Defaulted, Json, NullableJson, NullableTimestamp, Timestamp } from "./columns.ts";

export type MessageRole = "user" | "agent" | "tool_call" | "tool_result";

export interface CallMessagesTable {
  stage_id: string;
  /** Position in the stage, from 0. */
  message_index: number;
  call_id: string;
  account_id: string;
  /** Position in the call. */
  ordinal: number;
  role: MessageRole;
  text: string;
  medium: "voice" | "text";
  invocation_id: string | null;
  tool_name: string | null;
  error_details: string | null;
  call_state: NullableJson;
  start_ms: number | null;
  end_ms: number | null;
  wall_start_ms: number | null;
  wall_end_ms: number | null;
  metadata: Json<Record<string, string>>;
  /** Part of the history that the stage began with. */
  initial: boolean;
  created_at: Timestamp;
  /** Counts what was written at this index of the stage. */
  version: Defaulted<number>;
}

export const callMessages: ColumnsOf<CallMessagesTable> = {
  stage_id: "uuid",
  message_index: "integer",
  call_id: "uuid",
  account_id: "uuid",
  ordinal: "bigint",
  role: "text",
  text: "text",
  medium: "text",
  invocation_id: "text null",
  tool_name: "text null",
  error_details: "text null",
  call_state: "json null",
  start_ms: "integer null",
  end_ms: "integer null",
  wall_start_ms: "integer null",
  wall_end_ms: "integer null",
  metadata: "json",
  initial: "boolean",
  created_at: "timestamptz",
  version: "integer",
};

export interface CallEventsTable {
  id: Generated<number>;
  call_id: string;
  account_id: string;
  stage_id: string;
  call_timestamp_ms: number;
  wall_clock_timestamp_ms: number | null;
  /** Index in the list of severities. */
  severity: number;
  type: string;
  text: string;
  extras: NullableJson;
  created_at: Timestamp;
  /** Made by the process that runs the call, so that each event is stored once. */
  event_key: string | null;
}

export const callEvents: ColumnsOf<CallEventsTable> = {
  id: "bigint",
  call_id: "uuid",
  account_id: "uuid",
  stage_id: "uuid",
  call_timestamp_ms: "integer",
  wall_clock_timestamp_ms: "integer null",
  severity: "smallint",
  type: "text",
  text: "text",
  extras: "json null",
  created_at: "timestamptz",
  event_key: "uuid null",
};

/** Whole event logs of calls that failed. */
export interface CallEventLogsTable {
  call_id: string;
  account_id: string;
  sealed_log: string;
  created_at: Timestamp;
}

export const callEventLogs: ColumnsOf<CallEventLogsTable> = {
  call_id: "uuid",
  account_id: "uuid",
  sealed_log: "text",
  created_at: "timestamptz",
};

export interface CallEventLogChunksTable {
  call_id: string;
  account_id: string;
  /** From 0. */
  chunk_index: number;
  event_count: number;
  sealed_events: string;
  created_at: Timestamp;
}

export const callEventLogChunks: ColumnsOf<CallEventLogChunksTable> = {
  call_id: "uuid",
  account_id: "uuid",
  chunk_index: "integer",
  event_count: "integer",
  sealed_events: "text",
  created_at: "timestamptz",
};

/** The number of chunks and events of a complete log. */
export interface CallEventLogEndsTable {
  call_id: string;
  account_id: string;
  chunk_count: number;
  event_count: number;
}

export const callEventLogEnds: ColumnsOf<CallEventLogEndsTable> = {
  call_id: "uuid",
  account_id: "uuid",
  chunk_count: "integer",
  event_count: "integer",
};

export interface CallSnapshotsTable {
  call_id: string;
  account_id: string;
  engine_version: number;
  /** Null: it was too long. */
  sealed_state: string | null;
  saved_at: Timestamp;
}

export const callSnapshots: ColumnsOf<CallSnapshotsTable> = {
  call_id: "uuid",
  account_id: "uuid",
  engine_version: "integer",
  sealed_state: "text null",
  saved_at: "timestamptz",
};

/** What lists show and searches find of the transcript of an ended call. */
export interface CallTextsTable {
  call_id: string;
  account_id: string;
  span_id: number;
  /** Of the call. */
  created_at: Timestamp;
  words: string;
  first_words: string | null;
  median_reply_ms: number | null;
}

export const callTexts: ColumnsOf<CallTextsTable> = {
  call_id: "uuid",
  account_id: "uuid",
  span_id: "bigint",
  created_at: "timestamptz",
  words: "tsvector",
  first_words: "text null",
  median_reply_ms: "integer null",
};

/** Ended calls without a row in `call_texts`. */
export interface CallTextsDueTable {
  call_id: string;
  ended_at: Timestamp;
}

export const callTextsDue: ColumnsOf<CallTextsDueTable> = { call_id: "uuid", ended_at: "timestamptz" };

/** Parts of the time of an account. Each has its own words in the index of transcripts. */
export interface CallTextSpansTable {
  id: Generated<number>;
  account_id: string;
  starts_at: Timestamp;
  newest_at: NullableTimestamp;
  calls: Defaulted<number>;
}

export const callTextSpans: ColumnsOf<CallTextSpansTable> = {
  id: "bigint",
  account_id: "uuid",
  starts_at: "timestamptz",
  newest_at: "timestamptz null",
  calls: "integer",
};
