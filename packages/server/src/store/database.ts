/**
 * Rows of the tables as they are read and written. Dates are read as ISO 8601 UTC with milliseconds, JSON as values,
 * `bigint` and `numeric` as numbers, alike on both databases.
 */

import type { WebhookEvent, WebhookStatus } from "@parley/schema";
import type { ColumnType } from "kysely";
import type { EndReason } from "./calls.ts";
import type { BillingStatus } from "./metering.ts";
import type { WebhookRow } from "./webhooks.ts";

type Timestamp = ColumnType<string, Date, Date>;
type NullableTimestamp = ColumnType<string | null, Date | null | undefined, Date | null>;
type Json = ColumnType<Record<string, unknown>, string, string>;
type NullableJson = ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>;
type Defaulted<Value> = ColumnType<Value, Value | undefined, Value>;

export interface Database {
  store_settings: { name: string; value: string };
  accounts: {
    id: string;
    name: string;
    is_default: Defaulted<boolean>;
    created_at: Timestamp;
    allowed_concurrent_calls: ColumnType<number | null, number | null | undefined, number | null>;
    removed_at: NullableTimestamp;
  };
  api_keys: {
    prefix: string;
    account_id: string;
    hash: string;
    name: string;
    creator: string | null;
    created_at: Timestamp;
    expires_at: NullableTimestamp;
    revoked_at: NullableTimestamp;
  };
  agents: {
    id: string;
    account_id: string;
    name: string;
    name_key: string;
    created_at: Timestamp;
    published_revision_id: string;
    calls_count: Defaulted<number>;
    deleted_at: NullableTimestamp;
  };
  agent_revisions: {
    id: string;
    agent_id: string;
    account_id: string;
    name: string;
    call_template: NullableJson;
    sealed_secrets: string | null;
    created_at: Timestamp;
  };
  calls: CallsTable;
  call_stages: {
    id: string;
    call_id: string;
    account_id: string;
    position: number;
    created_at: Timestamp;
    settings: Json;
    sealed_secrets: string | null;
    initial_token_count: number | null;
    latest_token_count: number | null;
    error_count: Defaulted<number>;
    inherits_messages: Defaulted<boolean>;
    sealed_plan: string | null;
  };
  tools: {
    id: string;
    account_id: string;
    name: string;
    name_key: string;
    search_text: string;
    created_at: Timestamp;
    document: Json;
    sealed_secrets: string | null;
  };
  webhooks: {
    id: string;
    account_id: string;
    agent_id: string | null;
    url: string;
    events: readonly WebhookEvent[];
    sealed_secrets: string;
    status: Defaulted<WebhookStatus>;
    last_status_change_at: NullableTimestamp;
    failures_in_row: Defaulted<number>;
    recent_failures: ColumnType<WebhookRow["recentFailures"], string | undefined, string>;
    created_at: Timestamp;
  };
}

interface CallsTable {
  id: string;
  account_id: string;
  agent_id: string | null;
  agent_revision_id: string | null;
  node_id: string;
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
  metadata: ColumnType<Record<string, string>, string, string>;
  search_text: string;
  request_context: NullableJson;
  duration_ms: number | null;
  billed_duration_ms: number | null;
  billing_status: Defaulted<BillingStatus>;
  short_summary: string | null;
  summary: string | null;
}
