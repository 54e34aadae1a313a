/**
 * Which documents wait for their vectors. Each change of chunks raises the version of its document, and at most one job
 * for a corpus waits in the queue. Only the documents of a raised version, or of another model, are looked at.
 */

import { sql } from "kysely";
import { databaseTime, laterBy, type SqlTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";

export interface CorpusOfAccount {
  readonly accountId: string;
  readonly corpusId: string;
}

/** After a crash another job takes over after this time. Longer than the slowest request to a server of embeddings. */
export const INDEX_CLAIM_MS = 180_000;

/** A job that was queued so long ago and has not begun counts as lost. Another one does no harm where it is not. */
const QUEUED_MS = 3_600_000;

/**
 * Within a transaction that changed so many chunks. True: no job waits for the corpus, so one has to be queued now. The row
 * stays locked until the end of the transaction: a job that begins meanwhile waits, and then sees the change.
 */
export async function noteIndexQueued(
  tx: Db,
  corpusId: string,
  changedChunks: number,
  time: SqlTime = databaseTime,
): Promise<boolean> {
  const noted = await sql<{ wasQueued: boolean }>`
    with before as (
      select id, coalesce(index_queued_until > ${time}, false) as was_queued from corpora
      where id = ${corpusId} for no key update
    )
    update corpora set chunks_changed = chunks_changed + ${changedChunks}::integer,
      index_queued_until = case when was_queued then index_queued_until else ${laterBy(time, QUEUED_MS)} end
    from before where corpora.id = before.id
    returning was_queued as "wasQueued"`.execute(tx.query);
  return noted.rows[0]?.wasQueued === false;
}

/** `busy`: another job indexes the corpus. `gone`: the account has no such corpus. */
export type IndexClaim = "claimed" | "busy" | "gone";

/** For a job that begins: what changes from now on queues another one. */
export async function claimIndex(
  db: Db,
  { accountId, corpusId }: CorpusOfAccount,
  jobId: string,
): Promise<IndexClaim> {
  const claimed = await sql<{ isMine: boolean }>`
    update corpora set index_queued_until = null,
      indexer = case when ${isFree(jobId)} then ${jobId}::text else indexer end,
      indexer_until = case when ${isFree(jobId)} then ${laterBy(databaseTime, INDEX_CLAIM_MS)} else indexer_until end
    where id = ${corpusId} and account_id = ${accountId}
    returning indexer = ${jobId}::text as "isMine"`.execute(db.query);
  const [row] = claimed.rows;
  if (row === undefined) return "gone";
  return row.isMine ? "claimed" : "busy";
}

const isFree = (jobId: string) =>
  sql`(indexer is null or indexer = ${jobId}::text or indexer_until < ${databaseTime})`;

/** False: another job has taken over, or the corpus is gone. */
export async function renewIndexClaim(db: Db, corpusId: string, jobId: string): Promise<boolean> {
  const renewed = await sql`update corpora set indexer_until = ${laterBy(databaseTime, INDEX_CLAIM_MS)}
    where id = ${corpusId} and indexer = ${jobId}::text returning id`.execute(db.query);
  return renewed.rows.length > 0;
}

export async function releaseIndex(db: Db, corpusId: string, jobId: string): Promise<void> {
  await sql`update corpora set indexer = null, indexer_until = null
    where id = ${corpusId} and indexer = ${jobId}::text`.execute(db.query);
}

/** A document whose chunks lack vectors of the model, or may lack some. `modelId` null: no vector was made yet. */
const isToIndex = (modelId: number | null) => sql`document.chunks_count > 0 and (
  document.indexed_version < document.chunks_version or document.indexed_model is distinct from ${modelId}::integer
  or ${modelId}::integer is null)`;

export interface DocumentToIndex {
  readonly documentId: string;
  /** Of its chunks when the job begins with them. */
  readonly version: number;
  /** The last chunk that was tried with the model; later ones have higher ids. 0: none. */
  readonly throughId: number;
}

/** The next one in the order of ids. Null: there is none after `afterId`. */
export async function nextToIndex(
  db: Db,
  corpusId: string,
  modelId: number | null,
  afterId: string | null,
): Promise<DocumentToIndex | null> {
  const read = await sql<DocumentToIndex>`
    select document.id as "documentId", document.chunks_version as version,
      case when document.indexed_model = ${modelId}::integer then document.indexed_through else 0 end as "throughId"
    from corpus_documents as document
    where document.corpus_id = ${corpusId} and ${isToIndex(modelId)}
      and ${afterId === null ? sql`true` : sql`document.id > ${afterId}`}
    order by document.id limit 1`.execute(db.query);
  return read.rows[0] ?? null;
}

export interface IndexPage {
  readonly afterId: string | null;
  readonly limit: number;
  /** With those that a job indexes now. */
  readonly isClaimed: boolean;
}

/** Corpora with such documents. A bounded list, in the order of ids. */
export async function corporaToIndex(
  db: Db,
  modelId: number | null,
  { afterId, limit, isClaimed }: IndexPage,
): Promise<readonly CorpusOfAccount[]> {
  const read = await sql<CorpusOfAccount>`
    select corpora.account_id as "accountId", corpora.id as "corpusId" from corpora
    where ${afterId === null ? sql`true` : sql`corpora.id > ${afterId}`}
      and ${isClaimed ? sql`true` : sql`(indexer_until is null or indexer_until < ${databaseTime})`}
      and exists (select 1 from corpus_documents as document
        where document.corpus_id = corpora.id and ${isToIndex(modelId)})
    order by corpora.id limit ${limit}`.execute(db.query);
  return read.rows;
}

/** Whether every document of the corpus has been indexed with the model. */
export async function isIndexedWith(db: Db, corpusId: string, modelId: number): Promise<boolean> {
  const read = await sql`
    select 1 from corpus_documents as document
    where document.corpus_id = ${corpusId} and ${isToIndex(modelId)} limit 1`.execute(db.query);
  return read.rows.length === 0;
}

/** The chunks up to this one were tried. */
export async function noteIndexedThrough(
  db: Db,
  documentId: string,
  modelId: number,
  throughId: number,
): Promise<void> {
  await sql`
    update corpus_documents set indexed_through = ${throughId}, indexed_model = ${modelId},
      indexed_version = case when indexed_model is distinct from ${modelId}::integer then 0 else indexed_version end
    where id = ${documentId}`.execute(db.query);
}

/** All chunks of that version were tried. A later version stays to be indexed. */
export async function noteIndexed(
  db: Db,
  { documentId, version }: Pick<DocumentToIndex, "documentId" | "version">,
  modelId: number,
  vectors: number,
): Promise<void> {
  await sql`
    update corpus_documents set vectors_count = ${vectors}, indexed_version = ${version},
      indexed_through = case when indexed_model = ${modelId}::integer then indexed_through else 0 end,
      indexed_model = ${modelId}
    where id = ${documentId} and chunks_version = ${version}`.execute(db.query);
}

/** Where no model makes vectors, the statistics of all corpora say so, and a model that is set up later begins anew. */
export async function forgetIndexed(db: Db): Promise<void> {
  await sql`update corpus_documents set vectors_count = 0, indexed_model = null
    where vectors_count <> 0 or indexed_model is not null`.execute(db.query);
}
