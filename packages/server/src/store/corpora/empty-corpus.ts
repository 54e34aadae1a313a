/** Deletes what a corpus has, in portions: on the embedded database everything else waits for each statement. */

import { setImmediate } from "node:timers/promises";
import { MAX_SOURCES } from "@parley/schema";
import { sql } from "kysely";
import { inTransaction, type Db } from "../database/db.ts";
import { lockCorpus } from "./corpora.ts";
import { deleteSource } from "./corpus-sources.ts";

/** Uploads of one transaction. A source, which is deleted as a whole, has as many documents. */
const UPLOADS_AT_ONCE = 200;
/** Of uploads. Those that come meanwhile are deleted with the corpus. */
const MOST_PORTIONS = 1_000;

/**
 * Before the corpus itself is deleted: its sources, each with its documents, and the uploads that no source has taken. A
 * source goes with its documents, so that a load which is under way ends instead of storing chunks of a deleted document.
 */
export async function emptyCorpus(db: Db, accountId: string, corpusId: string): Promise<void> {
  const sources = await sql<{ id: string }>`select id from corpus_sources
    where corpus_id = ${corpusId} and account_id = ${accountId} limit ${MAX_SOURCES}`.execute(db.query);
  for (const { id } of sources.rows) {
    await deleteSource(db, accountId, corpusId, id);
    await setImmediate();
  }
  for (let portion = 0; portion < MOST_PORTIONS; portion += 1) {
    if ((await deleteUploads(db, accountId, corpusId)) < UPLOADS_AT_ONCE) return;
    await setImmediate();
  }
}

async function deleteUploads(db: Db, accountId: string, corpusId: string): Promise<number> {
  return inTransaction(db, async (tx) => {
    if (!(await lockCorpus(tx, accountId, corpusId))) return 0;
    const deleted = await sql`
      delete from corpus_documents where id in (
        select id from corpus_documents where corpus_id = ${corpusId} and source_id is null limit ${UPLOADS_AT_ONCE}
      )`.execute(tx.query);
    return Number(deleted.numAffectedRows ?? 0n);
  });
}
