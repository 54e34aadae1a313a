/** Files of deleted documents. A trigger fills the queue, because documents are also deleted with what they belong to. */

import { sql } from "kysely";
import { databaseTime, laterBy, type SqlTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";

const REMOVED_AT_ONCE = 100;

export interface CorpusFileToRemove {
  readonly documentId: string;
  /** Failed attempts. */
  readonly failures: number;
}

/** Due files on the disk of the node, and those in the shared store if it reaches that. */
export async function listCorpusFilesToRemove(
  db: Db,
  remover: { readonly nodeId: string; readonly reachesShared: boolean },
  time: SqlTime = databaseTime,
): Promise<CorpusFileToRemove[]> {
  const isOf = sql`((is_shared and ${remover.reachesShared}::boolean) or file_node = ${remover.nodeId})`;
  const read = await sql<CorpusFileToRemove>`
    select document_id as "documentId", failures from corpus_files_to_remove
    where ${isOf} and due_at <= ${time} order by due_at limit ${REMOVED_AT_ONCE}`.execute(db.query);
  return read.rows;
}

export async function markCorpusFileRemoved(db: Db, documentId: string): Promise<void> {
  await sql`delete from corpus_files_to_remove where document_id = ${documentId}`.execute(db.query);
}

/** Records a failure; the next attempt is after `waitMs`. */
export async function noteCorpusFileFailure(
  db: Db,
  documentId: string,
  waitMs: number,
  time: SqlTime = databaseTime,
): Promise<void> {
  await sql`update corpus_files_to_remove set failures = failures + 1, due_at = ${laterBy(time, waitMs)}
    where document_id = ${documentId}`.execute(db.query);
}
