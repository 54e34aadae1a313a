/** Event logs of calls that failed, kept with the call for replay and erased with it. */

import { sql } from "kysely";
import type { Db } from "./db.ts";

/**
 * The log as it was given; any JSON. One per call: a later one replaces it. Sealed as a whole, because it holds the
 * call's plan. False: the account has no such call.
 */
export async function saveEventLog(db: Db, accountId: string, callId: string, log: object): Promise<boolean> {
  const sealed = db.sealer.seal(JSON.stringify(log), logContext(callId));
  const written = await sql`
    insert into call_event_logs (call_id, account_id, sealed_log, created_at)
    select id, account_id, ${sealed}, ${new Date()}::timestamptz
    from calls where id = ${callId} and account_id = ${accountId}
    on conflict (call_id) do update set sealed_log = excluded.sealed_log, created_at = excluded.created_at`.execute(
    db.query,
  );
  return written.numAffectedRows === 1n;
}

export async function getEventLog(
  db: Db,
  accountId: string,
  callId: string,
): Promise<Record<string, unknown> | null> {
  const read = await sql<{ sealed_log: string }>`
    select sealed_log from call_event_logs where call_id = ${callId} and account_id = ${accountId}`.execute(
    db.query,
  );
  const sealed = read.rows[0]?.sealed_log;
  if (sealed === undefined) return null;
  return JSON.parse(db.sealer.open(sealed, logContext(callId))) as Record<string, unknown>;
}

function logContext(callId: string): string {
  return `call_event_logs:${callId}`;
}
