/**
 * Chunks of deleted documents. A trigger fills the queue, because documents are also deleted with what they belong to. Its
 * chunks are deleted in portions: those of a large corpus take minutes, in which other statements have to run.
 */

import { sql, type RawBuilder } from "kysely";
import { PortionSize } from "../../pacing/portion-size.ts";
import { inTransaction, type Db } from "../database/db.ts";

/** Chunks of one transaction. On the embedded database everything else waits for it, live calls included. */
const portionSize = new PortionSize({ aimMs: 25, first: 25, most: 500 });

/** Deletes some chunks of the document that was deleted first. True: there may be more. */
export async function removeDeletedChunks(
  db: Db,
  nowMs: () => number = () => performance.now(),
): Promise<boolean> {
  const { rows } = portionSize;
  const startedMs = nowMs();
  const deleted = await inTransaction(db, async (tx) => {
    const next = await sql<{ documentId: string }>`
      select document_id as "documentId" from corpus_chunks_to_remove order by id limit 1
      for update skip locked`.execute(tx.query);
    const [row] = next.rows;
    if (row === undefined) return null;
    const { documentId } = row;
    const gone = await sql`
      delete from corpus_chunks where chunk_id in (
        select chunk_id from corpus_chunks where document_id = ${documentId} limit ${rows}
      )`.execute(tx.query);
    const count = Number(gone.numAffectedRows ?? 0n);
    if (count < rows)
      await sql`delete from corpus_chunks_to_remove where document_id = ${documentId}`.execute(tx.query);
    return count;
  });
  portionSize.note(deleted ?? 0, nowMs() - startedMs);
  return deleted !== null;
}

/** Of a row of `corpus_chunks`: its document is there. */
export const ofStoredDocument: RawBuilder<boolean> = sql<boolean>`not exists (
  select 1 from corpus_chunks_to_remove as removed where removed.document_id = corpus_chunks.document_id)`;

/** Of a row of a table of vectors with the alias `near`: the document of its chunk is there. */
export const nearStoredDocument: RawBuilder<boolean> = sql<boolean>`not exists (
  select 1 from corpus_chunks as chunk
  join corpus_chunks_to_remove as removed on removed.document_id = chunk.document_id
  where chunk.chunk_id = near.chunk_id)`;
