/** Retention limits of the deployment, which apply whatever the retention policy of a call says. */

import { sql } from "kysely";
import type { Row } from "../database/database.ts";
import { databaseTime, daysBefore, type SqlTime } from "../database/database-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { callSearchText } from "../database/search-text.ts";
import { selectList, type Selected } from "../database/select-list.ts";

/** Days after the end of a call; null: no limit. */
export interface AgeLimits {
  readonly recordingsRetentionDays: number | null;
  readonly transcriptsRetentionDays: number | null;
  readonly callsRetentionDays: number | null;
}

/** Calls of one statement. With the statements that follow it takes about 50 ms. */
export const CALLS_PER_PORTION = 100;

/**
 * Queues recordings that are too old for removal by the nodes that have them, see `files-to-remove.ts`. Returns their
 * number; `CALLS_PER_PORTION`: there may be more.
 */
export async function noteOldRecordings(
  db: Db,
  retentionDays: number,
  time: SqlTime = databaseTime,
): Promise<number> {
  const noted = await sql`
    with chosen as (
      select id from calls where ended_at < ${daysBefore(time, retentionDays)} and not recording_erased
        and settings ->> 'recordingEnabled' = 'true'
      order by ended_at limit ${CALLS_PER_PORTION} for update skip locked
    ), marked as (
      update calls set recording_erased = true from chosen where calls.id = chosen.id
      returning calls.id, node_id, recording_is_shared
    ), files as (
      insert into files_to_remove (call_id, node_id, is_shared, due_at)
      select id, node_id, recording_is_shared, ${time} from marked on conflict do nothing
    )
    select id from marked`.execute(db.query);
  return noted.rows.length;
}

type OldTranscript = Pick<Row<"calls">, "id" | "account_id" | "metadata">;

/**
 * Erases the transcripts of calls that are too old: messages with their words in the index, summaries (also in the
 * search text), event logs, and the content of webhook deliveries. Returns the number of calls, as above.
 */
export async function eraseOldTranscripts(
  db: Db,
  retentionDays: number,
  time: SqlTime = databaseTime,
): Promise<number> {
  return inTransaction(db, async (tx) => {
    const chosen = await sql<OldTranscript>`
      select id, account_id, metadata from calls
      where ended_at < ${daysBefore(time, retentionDays)} and not transcript_erased
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

/** Tables whose rows hold parts of transcripts. */
const TRANSCRIPT_TABLES = [
  // First, and before the texts: it waits for a transaction that is just adding one.
  "call_texts_due",
  "call_texts",
  "call_messages",
  "call_event_logs",
  "call_event_log_chunks",
  "call_event_log_ends",
  "corpus_open_questions",
] as const;

const callPlace = selectList("calls", { accountId: "account_id", callId: "id" });

/** Calls that are too old, oldest end first, without those that are not billed yet. */
export async function listOldCalls(
  db: Db,
  retentionDays: number,
  time: SqlTime = databaseTime,
): Promise<readonly { readonly accountId: string; readonly callId: string }[]> {
  const read = await sql<Selected<typeof callPlace>>`
    select ${callPlace} from calls
    where ended_at < ${daysBefore(time, retentionDays)} and billing_status <> 'PENDING'
    order by ended_at limit ${CALLS_PER_PORTION}`.execute(db.query);
  return read.rows;
}
