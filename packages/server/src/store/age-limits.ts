/** What the deployment keeps of calls only for so long (D177), whatever their own retention policy says. */

import { sql } from "kysely";
import { inTransaction, type Db } from "./db.ts";
import { callSearchText } from "./search-text.ts";

/** Days after the end of a call; null: as long as the call is there. */
export interface AgeLimits {
  readonly recordingsKeptDays: number | null;
  readonly transcriptsKeptDays: number | null;
  readonly callsKeptDays: number | null;
}

export const NO_AGE_LIMITS: AgeLimits = {
  recordingsKeptDays: null,
  transcriptsKeptDays: null,
  callsKeptDays: null,
};

const DAY_MS = 86_400_000;

/** Calls of one statement: it and those that follow it take some 50 ms. */
export const CALLS_PER_PORTION = 100;

function endedBefore(nowMs: number, keptDays: number) {
  return sql`${new Date(nowMs - keptDays * DAY_MS)}::timestamptz`;
}

/**
 * Notes the recordings of some calls that are too old for removal by the nodes that have them, see `files-to-remove.ts`.
 * Gives how many: as many as `CALLS_PER_PORTION` where there may be more.
 */
export async function noteOldRecordings(db: Db, nowMs: number, keptDays: number): Promise<number> {
  const noted = await sql`
    with chosen as (
      select id from calls where ended_at < ${endedBefore(nowMs, keptDays)} and not recording_erased
        and settings ->> 'recordingEnabled' = 'true'
      order by ended_at limit ${CALLS_PER_PORTION} for update skip locked
    ), marked as (
      update calls set recording_erased = true from chosen where calls.id = chosen.id
      returning calls.id, node_id, recording_is_shared
    ), files as (
      insert into files_to_remove (call_id, node_id, is_shared, due_at)
      select id, node_id, recording_is_shared, ${new Date(nowMs)}::timestamptz from marked on conflict do nothing
    )
    select id from marked`.execute(db.query);
  return noted.rows.length;
}

interface OldTranscript {
  readonly id: string;
  readonly account_id: string;
  readonly metadata: Record<string, string>;
}

/**
 * Erases what was said in some calls that are too old: messages, summaries (also where searches look) and the logs that
 * replay them. Gives how many, as above.
 */
export async function eraseOldTranscripts(db: Db, nowMs: number, keptDays: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    const chosen = await sql<OldTranscript>`
      select id, account_id, metadata from calls
      where ended_at < ${endedBefore(nowMs, keptDays)} and not transcript_erased
      order by ended_at limit ${CALLS_PER_PORTION} for update skip locked`.execute(tx.query);
    const ids = sql`${chosen.rows.map(({ id }) => id)}::uuid[]`;
    for (const table of TRANSCRIPT_TABLES) {
      await sql`delete from ${sql.table(table)} where call_id = any(${ids})`.execute(tx.query);
    }
    await sql`update webhook_deliveries set sealed_body = null, call_record = null
      where call_id = any(${ids}) and status <> 'pending'`.execute(tx.query);
    for (const { id, account_id: accountId, metadata } of chosen.rows) {
      await sql`
        update calls set transcript_erased = true, short_summary = null, summary = null,
          search_text = ${callSearchText(accountId, { metadata })}
        where id = ${id}`.execute(tx.query);
    }
    return chosen.rows.length;
  });
}

/** All that hold what was said. */
const TRANSCRIPT_TABLES = [
  "call_messages",
  "call_event_logs",
  "call_event_log_chunks",
  "call_event_log_ends",
] as const;

/** Some calls that are too old, oldest end first; a call that is not billed yet is not among them. */
export async function listOldCalls(
  db: Db,
  nowMs: number,
  keptDays: number,
): Promise<readonly { readonly accountId: string; readonly callId: string }[]> {
  const read = await sql<{ accountId: string; callId: string }>`
    select account_id as "accountId", id as "callId" from calls
    where ended_at < ${endedBefore(nowMs, keptDays)} and billing_status <> 'PENDING'
    order by ended_at limit ${CALLS_PER_PORTION}`.execute(db.query);
  return read.rows;
}
