/** Tables of telephony: carriers and SIP. */

import type { ConfiguredCarrier } from "@parley/schema";
import type { ColumnsOf, Json, Timestamp } from "./columns.ts";

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
};
