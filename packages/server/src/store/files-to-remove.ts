/** Files of deleted calls, from the transaction that deletes a call until they are gone. */

import { sql, type RawBuilder } from "kysely";
import type { Db } from "./db.ts";

/** Files removed by one sweep. */
const REMOVED_AT_ONCE = 100;

export interface FilesToRemove {
  readonly callId: string;
  /** How often it was tried in vain. */
  readonly failures: number;
}

const columns = sql`call_id as "callId", failures`;

/** Who removes files: a node has its own, and those in the store that nodes share where it can reach that. */
export interface Remover {
  readonly nodeId: string;
  readonly reachesShared: boolean;
}

/** A note of shared files is no node's own, so that none which cannot reach them takes them for removed. */
function isOf({ nodeId, reachesShared }: Remover): RawBuilder<unknown> {
  return reachesShared
    ? sql`(node_id = ${nodeId} or is_shared)`
    : sql`(node_id = ${nodeId} and not is_shared)`;
}

/** Those that the node removes and that are due by now, longest due first. */
export async function listFilesToRemove(db: Db, remover: Remover, nowMs: number): Promise<FilesToRemove[]> {
  const read = await sql<FilesToRemove>`
    select ${columns} from files_to_remove where ${isOf(remover)} and due_at <= ${new Date(nowMs)}::timestamptz
    order by due_at limit ${REMOVED_AT_ONCE}`.execute(db.query);
  return read.rows;
}

/** Null: there are none, or another node has them. */
export async function getFilesToRemove(
  db: Db,
  remover: Remover,
  callId: string,
): Promise<FilesToRemove | null> {
  const read = await sql<FilesToRemove>`
    select ${columns} from files_to_remove where ${isOf(remover)} and call_id = ${callId}`.execute(db.query);
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
