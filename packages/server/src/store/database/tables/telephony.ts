/** Tables of telephony: carriers, calls dialled through them, numbers, and SIP. */

import type { ConfiguredCarrier } from "@parley/schema";
import type { ColumnsOf, Json, NullableTimestamp, Timestamp } from "./columns.ts";

export interface TelephonyConfigsTable {
  account_id: string;
  carrier: ConfiguredCarrier;
  /** What identifies the account at the carrier. */
  settings: Json<Readonly<Record<string, string>>>;
  sealed_secrets: string;
  allowed_agent_ids: readonly string[];
  allow_all_agents: boolean;
  request_context_mapping: Json<Readonly<Record<string, string>>>;
}

export const telephonyConfigs: ColumnsOf<TelephonyConfigsTable> = {
  account_id: "uuid",
  carrier: "text",
  settings: "json",
  sealed_secrets: "text",
  allowed_agent_ids: "uuid[]",
  allow_all_agents: "boolean",
  request_context_mapping: "json",
};

export interface SipAllowedAgent {
  readonly agentId: string;
  readonly toUserPattern?: string | undefined;
}

export interface SipConfigsTable {
  account_id: string;
  allowed_cidr_ranges: Json<readonly string[]>;
  allow_all_agents: boolean;
  allowed_agents: Json<readonly SipAllowedAgent[]>;
  fallback_url: string | null;
  sealed_fallback_secrets: string | null;
}

export const sipConfigs: ColumnsOf<SipConfigsTable> = {
  account_id: "uuid",
  allowed_cidr_ranges: "json",
  allow_all_agents: "boolean",
  allowed_agents: "jsonb",
  fallback_url: "text null",
  sealed_fallback_secrets: "text null",
};

export interface SipRegistrationsTable {
  id: string;
  account_id: string;
  username: string;
  sealed_password: string;
  proxy: string;
  outbound_proxy: string | null;
  auth_user: string | null;
  /** Null before the first answer of the registrar. */
  successful: boolean | null;
  created_at: Timestamp;
  /** The process that keeps it up, and until when nobody else does. */
  held_by: string | null;
  held_until: NullableTimestamp;
  /** Of the last attempt; null before the first one has ended. */
  last_status: number | null;
  last_reason: string | null;
  attempted_at: NullableTimestamp;
  next_attempt_at: NullableTimestamp;
}

export const sipRegistrations: ColumnsOf<SipRegistrationsTable> = {
  id: "uuid",
  account_id: "uuid",
  username: "text",
  sealed_password: "text",
  proxy: "text",
  outbound_proxy: "text null",
  auth_user: "text null",
  successful: "boolean null",
  created_at: "timestamptz",
  held_by: "text null",
  held_until: "timestamptz null",
  last_status: "smallint null",
  last_reason: "text null",
  attempted_at: "timestamptz null",
  next_attempt_at: "timestamptz null",
};

export interface SipMessagesTable {
  call_id: string;
  account_id: string;
  /** In the order of the call. */
  position: number;
  sent_or_received_at: Timestamp;
  is_sent: boolean;
  transport: string;
  source: string;
  destination: string;
  text: string;
}

export const sipMessages: ColumnsOf<SipMessagesTable> = {
  call_id: "uuid",
  account_id: "uuid",
  position: "bigint",
  sent_or_received_at: "timestamptz",
  is_sent: "boolean",
  transport: "text",
  source: "text",
  destination: "text",
  text: "text",
};

/** A carrier, or the SIP user agent of the service. */
export type DialledBy = ConfiguredCarrier | "sip";

export interface CarrierDialsTable {
  call_id: string;
  account_id: string;
  carrier: DialledBy;
  /** Null: the call was deleted. */
  number: string | null;
  dialled_at: Timestamp;
  /** Null until the carrier's answer or its first callback. */
  carrier_call_id: string | null;
  /** Null: the carrier has not said that the phone rings. */
  ringing_at: NullableTimestamp;
  answered_at: NullableTimestamp;
  ended_at: NullableTimestamp;
  /** Null while it is not over. */
  result: DialResult | null;
  detail: string | null;
  talked_ms: number | null;
  /** The carrier's word for who has answered; null: it has not said. */
  answered_by: string | null;
}

/** How a dialled call ended at its carrier. `refused`: nobody was dialled. */
export type DialResult = "completed" | "busy" | "no_answer" | "failed" | "canceled" | "machine" | "refused";

export const carrierDials: ColumnsOf<CarrierDialsTable> = {
  call_id: "uuid",
  account_id: "uuid",
  carrier: "text",
  number: "text null",
  dialled_at: "timestamptz",
  carrier_call_id: "text null",
  ringing_at: "timestamptz null",
  answered_at: "timestamptz null",
  ended_at: "timestamptz null",
  result: "text null",
  detail: "text null",
  talked_ms: "bigint null",
  answered_by: "text null",
};

export interface CallTransfersTable {
  /** Its dial has the same id. */
  id: string;
  call_id: string;
  account_id: string;
  carrier: DialledBy;
  /** The call that is transferred. */
  carrier_call_id: string;
  sealed_order: string;
  state: TransferState;
  failure: string | null;
  requested_at: Timestamp;
  /** The call in which the agent talks with the called person; null: the carrier itself dials and asks. */
  consult_call_id: string | null;
}

/**
 * `requested`: the carrier is asked to take the caller away. `dialling`: it has fetched whom to dial, or
 * the caller waits. `answered`: the called person is asked. The last three are final.
 */
export type TransferState = "requested" | "dialling" | "answered" | "connected" | "failed" | "canceled";

export const callTransfers: ColumnsOf<CallTransfersTable> = {
  id: "uuid",
  call_id: "uuid",
  account_id: "uuid",
  carrier: "text",
  carrier_call_id: "text",
  sealed_order: "text",
  state: "text",
  failure: "text null",
  requested_at: "timestamptz",
  consult_call_id: "uuid null",
};

export interface DiallingRulesTable {
  account_id: string;
  /** Empty: all numbers. */
  allowed_prefixes: readonly string[];
  /** Null: no limit; also of the next. */
  max_calls_per_day: number | null;
  max_minutes_per_day: number | null;
}

export const diallingRules: ColumnsOf<DiallingRulesTable> = {
  account_id: "uuid",
  allowed_prefixes: "text[]",
  max_calls_per_day: "integer null",
  max_minutes_per_day: "integer null",
};

export interface SipRulesTable {
  account_id: string;
  incoming_refer: "refuse" | "follow";
  dialled_srtp: "required" | "preferred" | "off";
}

export const sipRules: ColumnsOf<SipRulesTable> = {
  account_id: "uuid",
  incoming_refer: "text",
  dialled_srtp: "text",
};

export interface PhoneNumbersTable {
  account_id: string;
  number: string;
  agent_id: string;
  created_at: Timestamp;
}

export const phoneNumbers: ColumnsOf<PhoneNumbersTable> = {
  account_id: "uuid",
  number: "text",
  agent_id: "uuid",
  created_at: "timestamptz",
};
