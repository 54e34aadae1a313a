/** The queue of files to remove: from the transaction that deletes a call until its files are removed. */

import { sql, type RawBuilder } from "kysely";
import { databaseTime, laterBy, type SqlTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";
import { selectList, type Selected } from "../database/select-list.ts";

/** Files removed by one sweep. */
const REMOVED_AT_ONCE = 100;

export interface FilesToRemove {
  readonly callId: string;
  /** Failed attempts. */
  readonly failures: number;
}

const columns = selectList("files_to_remove", { callId: "call_id", failures: "failures" });

type Columns = Selected<typeof columns>;

/** A node that removes files: its own ones, and those in the shared store if it can reach that. */
export interface Remover {
  readonly nodeId: string;
  readonly reachesShared: boolean;
}

/** Entries of shared files belong to no node, so that a node which cannot reach them does not take them as removed. */
function isOf({ nodeId, reachesShared }: Remover): RawBuilder<unknown> {
  return reachesShared
    ? sql`(node_id = ${nodeId} or is_shared)`
    : sql`(node_id = ${nodeId} and not is_shared)`;
}

/** Due entries of the node, longest due first. */
export async function listFilesToRemove(
  db: Db,
  remover: Remover,
  time: SqlTime = databaseTime,
): Promise<FilesToRemove[]> {
  const read = await sql<Columns>`
    select ${columns} from files_to_remove where ${isOf(remover)} and due_at <= ${time}
    order by due_at limit ${REMOVED_AT_ONCE}`.execute(db.query);
  return read.rows;
}

/** Null: there is no entry, or it belongs to another node. */
export async function getFilesToRemove(
  db: Db,
  remover: Remover,
  callId: string,
): Promise<FilesToRemove | null> {
  const read = await sql<Columns>`
    select ${columns} from files_to_remove where ${isOf(remover)} and call_id = ${callId}`.execute(db.query);
  return read.rows[0] ?? null;
}

/** A node that gave no sign for this long does not come back for its files. */
const GONE_AFTER_DAYS = 30;
/** Entries given up by one statement; bounds its locks. */
const GIVEN_UP_AT_ONCE = 500;

/**
 * Gives up the files of nodes that have been gone for 30 days. Should one come back, it removes files of deleted calls
 * by itself. Returns the number of entries; `GIVEN_UP_AT_ONCE`: there may be more.
 */
export async function giveUpFilesOfGoneNodes(db: Db, time: SqlTime = databaseTime): Promise<number> {
  const goneBefore = sql`${time} - make_interval(days => ${GONE_AFTER_DAYS})`;
  const givenUp = await sql`
    delete from files_to_remove where call_id in (
      select call_id from files_to_remove as old where not is_shared and due_at < ${goneBefore}
        and not exists (select 1 from nodes where nodes.id = old.node_id and lease_until >= ${goneBefore})
      limit ${GIVEN_UP_AT_ONCE} for update skip locked)
    returning call_id`.execute(db.query);
  return givenUp.rows.length;
}

/** There may be more. */
export function isWholePortion(givenUp: number): boolean {
  return givenUp === GIVEN_UP_AT_ONCE;
}

export async function markFilesRemoved(db: Db, callId: string): Promise<void> {
  await db.query.deleteFrom("files_to_remove").where("call_id", "=", callId).execute();
}

/** Records a failure; the next attempt is after `waitMs`. */
export async function noteRemovalFailure(
  db: Db,
  callId: string,
  waitMs: number,
  time: SqlTime = databaseTime,
): Promise<void> {
  await sql`update files_to_remove set failures = failures + 1, due_at = ${laterBy(time, waitMs)}
    where call_id = ${callId}`.execute(db.query);
}
