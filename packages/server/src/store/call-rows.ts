/** Reading rows of `calls`, for one call and for lists. */

import { sql } from "kysely";
import type { CallRow, EndReason } from "./calls.ts";
import type { Db } from "./db.ts";
import type { BillingStatus } from "./metering.ts";
import { documentForAnswer } from "./redaction.ts";

export interface CallColumns {
  readonly id: string;
  readonly account_id: string;
  readonly agent_id: string | null;
  readonly agent_name: string | null;
  readonly agent_revision_id: string | null;
  readonly created_at: string;
  readonly joined_at: string | null;
  readonly ended_at: string | null;
  readonly end_reason: EndReason | null;
  readonly client_version: string | null;
  readonly medium_kind: string;
  readonly sealed_join_token: string | null;
  readonly settings: Record<string, unknown>;
  readonly sealed_secrets: string | null;
  readonly metadata: Record<string, string>;
  readonly request_context: Record<string, unknown> | null;
  readonly duration_ms: number | null;
  readonly billed_duration_ms: number | null;
  readonly billing_status: BillingStatus;
  readonly short_summary: string | null;
  readonly summary: string | null;
}

/** For a `from` clause of `calls` left-joined with `agents`. */
export const callColumns = sql`calls.id, calls.account_id, calls.agent_id, agents.name as agent_name,
  calls.agent_revision_id, calls.created_at, calls.joined_at, calls.ended_at, calls.end_reason, calls.client_version,
  calls.medium_kind, calls.sealed_join_token, calls.settings, calls.sealed_secrets, calls.metadata,
  calls.request_context, calls.duration_ms, calls.billed_duration_ms, calls.billing_status, calls.short_summary,
  calls.summary`;

export const callsWithAgents = sql`calls left join agents on agents.id = calls.agent_id`;

/** In the order of the ids; a call that is gone is left out. */
export async function readCallRows(
  db: Db,
  accountId: string,
  callIds: readonly string[],
): Promise<CallRow[]> {
  if (callIds.length === 0) return [];
  const read = await sql<CallColumns>`
    select ${callColumns} from ${callsWithAgents}
    where calls.id = any(${[...callIds]}::uuid[]) and calls.account_id = ${accountId}`.execute(db.query);
  const rows = new Map(read.rows.map((columns) => [columns.id, toCallRow(db, columns)]));
  return callIds.flatMap((callId) => rows.get(callId) ?? []);
}

export function toCallRow(db: Db, columns: CallColumns): CallRow {
  const { id, agent_id: agentId, sealed_join_token: sealedToken } = columns;
  return {
    callId: id,
    accountId: columns.account_id,
    agent: agentId === null ? null : { agentId, name: columns.agent_name ?? "" },
    agentRevisionId: columns.agent_revision_id,
    createdAt: columns.created_at,
    joinedAt: columns.joined_at,
    endedAt: columns.ended_at,
    endReason: columns.end_reason,
    clientVersion: columns.client_version,
    mediumKind: columns.medium_kind,
    joinToken: sealedToken === null ? null : db.sealer.open(sealedToken, tokenContext(id)),
    settings: documentForAnswer(db.sealer, columns.settings, columns.sealed_secrets, callContext(id)),
    metadata: columns.metadata,
    requestContext: columns.request_context,
    durationMs: columns.duration_ms,
    billedDurationMs: columns.billed_duration_ms,
    billingStatus: columns.billing_status,
    shortSummary: columns.short_summary,
    summary: columns.summary,
  };
}

/** Each binds a sealed text to its row and column. */
export function callContext(callId: string): string {
  return `calls.settings:${callId}`;
}

export function planContext(callId: string): string {
  return `calls.plan:${callId}`;
}

export function tokenContext(callId: string): string {
  return `calls.join_token:${callId}`;
}
