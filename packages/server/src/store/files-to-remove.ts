/** Files of deleted calls, from the transaction that deletes a call until they are gone. */

import { sql } from "kysely";
import type { Db } from "./db.ts";

/** Files removed by one sweep. */
const REMOVED_AT_ONCE = 100;

export interface FilesToRemove {
  readonly callId: string;
  /** How often it was tried in vain. */
  readonly failures: number;
}

const columns = sql`call_id as "callId", failures`;

/** Those that the node has and that are to be removed by now, longest due first. */
export async function listFilesToRemove(db: Db, nodeId: string, nowMs: number): Promise<FilesToRemove[]> {
  const read = await sql<FilesToRemove>`
    select ${columns} from files_to_remove where node_id = ${nodeId} and due_at <= ${new Date(nowMs)}::timestamptz
    order by due_at limit ${REMOVED_AT_ONCE}`.execute(db.query);
  return read.rows;
}

/** Null: there are none, or another node has them. */
export async function getFilesToRemove(
  db: Db,
  nodeId: string,
  callId: string,
): Promise<FilesToRemove | null> {
  const read = await sql<FilesToRemove>`
    select ${columns} from files_to_remove where node_id = ${nodeId} and call_id = ${callId}`.execute(
    db.query,
  );
  return read.rows[0] ?? null;
}

export async function filesAreRemoved(db: Db, callId: string): Promise<void> {
  await sql`delete from files_to_remove where call_id = ${callId}`.execute(db.query);
}

/** Notes a failure; the next try is at `dueAtMs`. */
export async function filesAreLeft(db: Db, callId: string, dueAtMs: number): Promise<void> {
  await sql`update files_to_remove set failures = failures + 1, due_at = ${new Date(dueAtMs)}::timestamptz
    where call_id = ${callId}`.execute(db.query);
}
