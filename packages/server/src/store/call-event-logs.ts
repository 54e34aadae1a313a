/** Event logs of calls that failed, kept with the call for replay and erased with it. */

import { sql } from "kysely";
import type { Db } from "./db.ts";
import { toJsonText } from "./json-text.ts";

/** The log as it was given; any JSON. One per call: a later one replaces it. False: the account has no such call. */
export async function saveEventLog(db: Db, accountId: string, callId: string, log: object): Promise<boolean> {
  const written = await sql`
    insert into call_event_logs (call_id, account_id, log, created_at)
    select id, account_id, ${toJsonText(log)}::json, ${new Date()}::timestamptz
    from calls where id = ${callId} and account_id = ${accountId}
    on conflict (call_id) do update set log = excluded.log, created_at = excluded.created_at`.execute(
    db.query,
  );
  return written.numAffectedRows === 1n;
}

export async function getEventLog(
  db: Db,
  accountId: string,
  callId: string,
): Promise<Record<string, unknown> | null> {
  const read = await sql<{ log: Record<string, unknown> }>`
    select log from call_event_logs where call_id = ${callId} and account_id = ${accountId}`.execute(
    db.query,
  );
  return read.rows[0]?.log ?? null;
}
