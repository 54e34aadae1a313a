/** Reading rows of `calls`, for one call and for lists. */

import { sql } from "kysely";
import type { CallRow } from "./calls.ts";
import { callColumns } from "../database/call-columns.ts";
import type { Db } from "../database/db.ts";
import type { CallColumns } from "../database/tables/calls.ts";
import { documentForAnswer } from "../secrets/redaction.ts";

export const callsWithAgents = sql`calls left join agents on agents.id = calls.agent_id`;

/** In the order of the ids; deleted calls are left out. */
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
    sideInputTokens: columns.side_input_tokens ?? null,
    sideOutputTokens: columns.side_output_tokens ?? null,
    sipTermination: columns.sip_termination ?? null,
    sipBilledMs: columns.sip_billed_ms ?? null,
    hasErrors: columns.has_errors ?? false,
    firstWords: columns.first_words ?? null,
    medianReplyMs: columns.median_reply_ms ?? null,
    engineUse: columns.engine_use ?? null,
  };
}

/** These bind a sealed text to its row and column. */
export function callContext(callId: string): string {
  return `calls.settings:${callId}`;
}

export function planContext(callId: string): string {
  return `calls.plan:${callId}`;
}

export function tokenContext(callId: string): string {
  return `calls.join_token:${callId}`;
}
