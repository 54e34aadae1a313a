/** What an account may store in all of its corpora together. */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { CorpusLimitError } from "../database/store-errors.ts";

export interface CorpusLimits {
  readonly documentsPerAccount: number;
  readonly bytesPerAccount: number;
}

/** A number of this lock: "corp" in ASCII. */
const LOCK_CLASS = 0x636f_7270;

/**
 * Within a transaction: refuses documents and bytes beyond the limits. Transactions of one account wait for each other,
 * so that together they do not exceed a limit.
 *
 * @throws CorpusLimitError
 */
export async function checkCorpusLimits(
  tx: Db,
  accountId: string,
  added: { readonly documents: number; readonly bytes: number },
  limits: CorpusLimits,
): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK_CLASS}::int, hashtext(${accountId}))`.execute(tx.query);
  const used = await sql<{ documents: number; bytes: number }>`
    select count(*) as documents, coalesce(sum(size_bytes), 0) as bytes from corpus_documents
    where account_id = ${accountId}`.execute(tx.query);
  const { documents = 0, bytes = 0 } = used.rows[0] ?? {};
  if (documents + added.documents > limits.documentsPerAccount) throw new CorpusLimitError("documents");
  if (bytes + added.bytes > limits.bytesPerAccount) throw new CorpusLimitError("storage");
}
