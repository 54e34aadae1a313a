/** Tables of agents, tools and voices. */

import type { VoiceKind } from "@parley/schema";
import type { ColumnsOf, Defaulted, Json, NullableJson, NullableTimestamp, Timestamp } from "./columns.ts";

export interface AgentsTable {
  id: string;
  account_id: string;
  name: string;
  /** The key by which names are sorted and searched. */
  name_key: string;
  created_at: Timestamp;
  published_revision_id: string;
  /** Calls ever created, deleted ones included. */
  calls_count: Defaulted<number>;
  deleted_at: NullableTimestamp;
}

export const agents: ColumnsOf<AgentsTable> = {
  id: "uuid",
  account_id: "uuid",
  name: "text",
  name_key: "text",
  created_at: "timestamptz",
  published_revision_id: "uuid",
  calls_count: "integer",
  deleted_at: "timestamptz null",
};

/** Never changed. */
export interface AgentRevisionsTable {
  id: string;
  agent_id: string;
  account_id: string;
  name: string;
  call_template: NullableJson;
  sealed_secrets: string | null;
  created_at: Timestamp;
}

export const agentRevisions: ColumnsOf<AgentRevisionsTable> = {
  id: "uuid",
  agent_id: "uuid",
  account_id: "uuid",
  name: "text",
  call_template: "json null",
  sealed_secrets: "text null",
  created_at: "timestamptz",
};

export interface ToolsTable {
  id: string;
  account_id: string;
  name: string;
  name_key: string;
  search_text: string;
  created_at: Timestamp;
  document: Json;
  sealed_secrets: string | null;
}

export const tools: ColumnsOf<ToolsTable> = {
  id: "uuid",
  account_id: "uuid",
  name: "text",
  name_key: "text",
  search_text: "text",
  created_at: "timestamptz",
  document: "json",
  sealed_secrets: "text null",
};

export interface VoicesTable {
  id: string;
  account_id: string;
  name: string;
  search_text: string;
  description: string | null;
  primary_language: string | null;
  /** The language in lower case, which filters compare. */
  language_key: string | null;
  kind: VoiceKind;
  created_at: Timestamp;
  document: Json;
  sealed_secrets: string | null;
}

export const voices: ColumnsOf<VoicesTable> = {
  id: "uuid",
  account_id: "uuid",
  name: "text",
  search_text: "text",
  description: "text null",
  primary_language: "text null",
  language_key: "text null",
  kind: "text",
  created_at: "timestamptz",
  document: "json",
  sealed_secrets: "text null",
};
