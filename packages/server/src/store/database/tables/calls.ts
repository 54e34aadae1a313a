/** Tables of calls: the call, and its stages with their tools. */

import type { CallUseRecord, EndReason, SipTermination } from "@parley/schema";
import type { Selectable } from "kysely";
import type { ColumnsOf, Defaulted, Json, NullableJson, NullableTimestamp, Timestamp } from "./columns.ts";

/** The printed status without its prefix `BILLING_STATUS_`. */
export type BillingStatus =
  | "PENDING"
  | "FREE_CONSOLE"
  | "FREE_ZERO_EFFECTIVE_DURATION"
  | "FREE_MINUTES"
  | "FREE_SYSTEM_ERROR"
  | "FREE_OTHER"
  | "BILLED"
  | "REFUNDED";

export interface CallsTable {
  id: string;
  account_id: string;
  agent_id: string | null;
  agent_revision_id: string | null;
  /** The node that runs the call; before its join the one that has made it. */
  node_id: string;
  /** The process of that node that owns the call; null: none, and any process may claim it. */
  claimed_boot: Defaulted<string | null>;
  /** The last sign of life of the owner of a joined call, where it is gone; null: it runs, or nobody has looked. */
  orphaned_at: NullableTimestamp;
  created_at: Timestamp;
  join_deadline_at: Timestamp;
  joined_at: NullableTimestamp;
  ended_at: NullableTimestamp;
  end_reason: EndReason | null;
  client_version: string | null;
  medium_kind: string;
  join_token_hash: string | null;
  sealed_join_token: string | null;
  settings: Json;
  sealed_secrets: string | null;
  sealed_plan: string;
  metadata: Json<Record<string, string>>;
  search_text: string;
  request_context: NullableJson;
  duration_ms: number | null;
  billed_duration_ms: number | null;
  billing_status: Defaulted<BillingStatus>;
  short_summary: string | null;
  summary: string | null;
  /** Of the voice that the first stage names. */
  voice_id: Defaulted<string | null>;
  recording_erased: Defaulted<boolean>;
  transcript_erased: Defaulted<boolean>;
  recording_is_shared: Defaulted<boolean>;
  has_errors: Defaulted<boolean>;
  is_of_console: Defaulted<boolean>;
  /** Tokens of side threads; null: the call had none. */
  side_input_tokens: Defaulted<number | null>;
  side_output_tokens: Defaulted<number | null>;
  /** What it has used of its engines. */
  engine_use: NullableJson<CallUseRecord>;
  /** How a call over SIP ended at the other side. */
  sip_termination: Defaulted<SipTermination | null>;
  /** Of calls over SIP: from the beginning to the end, rounded up. */
  sip_billed_ms: Defaulted<number | null>;
  /** The call whose caller it is about. */
  consultation_of: Defaulted<string | null>;
}

export const calls: ColumnsOf<CallsTable> = {
  id: "uuid",
  account_id: "uuid",
  agent_id: "uuid null",
  agent_revision_id: "uuid null",
  node_id: "text",
  claimed_boot: "text null",
  orphaned_at: "timestamptz null",
  created_at: "timestamptz",
  join_deadline_at: "timestamptz",
  joined_at: "timestamptz null",
  ended_at: "timestamptz null",
  end_reason: "text null",
  client_version: "text null",
  medium_kind: "text",
  join_token_hash: "text null",
  sealed_join_token: "text null",
  settings: "json",
  sealed_secrets: "text null",
  sealed_plan: "text",
  metadata: "jsonb",
  search_text: "text",
  request_context: "json null",
  duration_ms: "bigint null",
  billed_duration_ms: "bigint null",
  billing_status: "text",
  short_summary: "text null",
  summary: "text null",
  voice_id: "uuid null",
  recording_erased: "boolean",
  transcript_erased: "boolean",
  recording_is_shared: "boolean",
  has_errors: "boolean",
  is_of_console: "boolean",
  side_input_tokens: "bigint null",
  side_output_tokens: "bigint null",
  engine_use: "json null",
  sip_termination: "text null",
  sip_billed_ms: "bigint null",
  consultation_of: "uuid null",
};

/** The columns that a call is shown from. `CallColumns` adds the name of its agent, and what is known of its transcript. */
export const SHOWN_CALL_COLUMNS = [
  "id",
  "account_id",
  "agent_id",
  "agent_revision_id",
  "created_at",
  "joined_at",
  "ended_at",
  "end_reason",
  "client_version",
  "medium_kind",
  "sealed_join_token",
  "settings",
  "sealed_secrets",
  "metadata",
  "request_context",
  "duration_ms",
  "billed_duration_ms",
  "billing_status",
  "short_summary",
  "summary",
  "has_errors",
  "side_input_tokens",
  "side_output_tokens",
  "engine_use",
  "sip_termination",
  "sip_billed_ms",
] as const satisfies readonly (keyof CallsTable)[];

/** A call as queries read it and as webhook deliveries record it. */
export type CallColumns = Readonly<
  Omit<
    Pick<Selectable<CallsTable>, (typeof SHOWN_CALL_COLUMNS)[number]>,
    | "has_errors"
    | "side_input_tokens"
    | "side_output_tokens"
    | "engine_use"
    | "sip_termination"
    | "sip_billed_ms"
  > & {
    agent_name: string | null;
    // Absent in deliveries that earlier versions have recorded.
    has_errors?: boolean;
    side_input_tokens?: number | null;
    side_output_tokens?: number | null;
    engine_use?: CallUseRecord | null;
    sip_termination?: SipTermination | null;
    sip_billed_ms?: number | null;
    first_words?: string | null;
    median_reply_ms?: number | null;
  }
>;

export interface CallStagesTable {
  id: string;
  call_id: string;
  account_id: string;
  /** From 0. */
  position: number;
  created_at: Timestamp;
  settings: Json;
  sealed_secrets: string | null;
  initial_token_count: number | null;
  latest_token_count: number | null;
  /** Failed tool invocations. */
  error_count: Defaulted<number>;
  inherits_messages: Defaulted<boolean>;
  sealed_plan: string | null;
}

export const callStages: ColumnsOf<CallStagesTable> = {
  id: "uuid",
  call_id: "uuid",
  account_id: "uuid",
  position: "integer",
  created_at: "timestamptz",
  settings: "json",
  sealed_secrets: "text null",
  initial_token_count: "integer null",
  latest_token_count: "integer null",
  error_count: "integer",
  inherits_messages: "boolean",
  sealed_plan: "text null",
};

/** Copies of the tools that a stage has. */
export interface CallToolsTable {
  stage_id: string;
  id: string;
  call_id: string;
  account_id: string;
  position: number;
  tool_id: string | null;
  name: string;
  definition: Json;
}

export const callTools: ColumnsOf<CallToolsTable> = {
  stage_id: "uuid",
  id: "uuid",
  call_id: "uuid",
  account_id: "uuid",
  position: "integer",
  tool_id: "uuid null",
  name: "text",
  definition: "json",
};
