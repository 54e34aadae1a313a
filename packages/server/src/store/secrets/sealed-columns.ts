/**
 * All columns with sealed texts. A column that is missing here cannot be sealed again when SECRETS_KEY changes, so the
 * change is refused while the database has one. A test checks that none is missing.
 */

import type { Database } from "../database/database.ts";

export interface SealedColumn {
  readonly table: keyof Database;
  readonly column: string;
  /** The context of its texts; `{id}` is the row's column `id`. These columns are the primary key. */
  readonly context: string;
}

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: "agent_revisions", column: "sealed_secrets", context: "agent_revisions:{id}" },
  { table: "calls", column: "sealed_join_token", context: "calls.join_token:{id}" },
  { table: "calls", column: "sealed_secrets", context: "calls.settings:{id}" },
  { table: "calls", column: "sealed_plan", context: "calls.plan:{id}" },
  { table: "call_stages", column: "sealed_secrets", context: "call_stages:{id}" },
  { table: "call_stages", column: "sealed_plan", context: "call_stages:plan:{id}" },
  { table: "call_event_logs", column: "sealed_log", context: "call_event_logs:{call_id}" },
  {
    table: "call_event_log_chunks",
    column: "sealed_events",
    context: "call_event_log_chunks:{call_id}:{chunk_index}",
  },
  { table: "call_snapshots", column: "sealed_state", context: "call_snapshots:{call_id}" },
  { table: "tools", column: "sealed_secrets", context: "tools:{id}" },
  { table: "kept_answers", column: "sealed_answer", context: "kept_answers:{account_id}:{key_hash}" },
  { table: "voices", column: "sealed_secrets", context: "voices:{id}" },
  { table: "tts_api_keys", column: "sealed_key", context: "tts_api_keys:{account_id}:{provider}" },
  { table: "scheduled_batches", column: "sealed_webhook_secret", context: "scheduled_batches.secret:{id}" },
  { table: "scheduled_calls", column: "sealed_secrets", context: "scheduled_calls:{batch_id}:{position}" },
  { table: "webhooks", column: "sealed_secrets", context: "webhooks.secrets:{id}" },
  { table: "webhook_deliveries", column: "sealed_body", context: "webhook_deliveries:{id}" },
  {
    table: "telephony_configs",
    column: "sealed_secrets",
    context: "telephony_configs:{account_id}:{carrier}",
  },
  { table: "call_transfers", column: "sealed_order", context: "call_transfers:{id}" },
  { table: "sip_configs", column: "sealed_fallback_secrets", context: "sip_configs:{account_id}" },
  { table: "sip_registrations", column: "sealed_password", context: "sip_registrations:{id}" },
  { table: "deployment_engines", column: "sealed_settings", context: "deployment_engines:{engine}" },
];

const PLACEHOLDER = /\{([a-z_]+)\}/g;

/** The primary key. */
export function keyColumnsOf({ context }: SealedColumn): string[] {
  return [...context.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
}

export function contextOf({ context }: SealedColumn, row: Readonly<Record<string, unknown>>): string {
  return context.replaceAll(PLACEHOLDER, (_, name: string) => String(row[name]));
}
