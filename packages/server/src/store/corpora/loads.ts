/**
 * Loads of sources. A source is to be loaded while its last finished generation is older than its present one. A load
 * belongs to one job at a time, for as long as that job writes: each of its transactions renews the claim, and one that
 * has lost the claim, or whose source has changed, writes nothing.
 */

import { randomUUID } from "node:crypto";
import type { SourceKind } from "@parley/schema";
import { sql } from "kysely";
import { databaseTime, laterBy, type SqlTime } from "../database/database-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { LoadLostError } from "../database/store-errors.ts";

/** After a crash another job takes over after this time. Longer than the slowest page and document together. */
export const CLAIM_MS = 180_000;

export interface Load {
  readonly sourceId: string;
  readonly corpusId: string;
  readonly accountId: string;
  readonly kind: SourceKind;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly generation: number;
  /** ISO 8601. */
  readonly requestedAt: string;
  /** The job that loads. */
  readonly jobId: string;
  /** Of the job: one that another attempt has followed writes nothing any more. */
  readonly attemptId: string;
}

export interface LoadIds {
  readonly accountId: string;
  readonly sourceId: string;
}

const isDue = sql`(loaded_generation is null or loaded_generation < generation)`;

/** Null: there is nothing to load, or another job loads the source. */
export async function claimLoad(
  db: Db,
  { accountId, sourceId }: LoadIds,
  jobId: string,
  time: SqlTime = databaseTime,
): Promise<Load | null> {
  const attemptId = randomUUID();
  const claimed = await sql<Omit<Load, "jobId" | "attemptId">>`
    update corpus_sources set loader = ${jobId}, loader_attempt = ${attemptId}, loader_until = ${laterBy(time, CLAIM_MS)}
    where id = ${sourceId} and account_id = ${accountId} and ${isDue}
      and (loader is null or loader = ${jobId} or loader_until < ${time})
    returning id as "sourceId", corpus_id as "corpusId", account_id as "accountId", kind, spec, generation,
      load_requested_at as "requestedAt"`.execute(db.query);
  const [row] = claimed.rows;
  return row === undefined ? null : { ...row, jobId, attemptId };
}

/**
 * Runs `work` in a transaction of the load. The corpus is locked first and then its source, as in changes of sources:
 * `work` often writes to the corpus as well, and two transactions that lock them in opposite orders wait for each other.
 *
 * @throws LoadLostError when the source was deleted or changed, or another job has it.
 */
export async function inLoad<Result>(
  db: Db,
  load: Load,
  work: (tx: Db) => Promise<Result>,
  time: SqlTime = databaseTime,
): Promise<Result> {
  return inTransaction(db, async (tx) => {
    // One statement: the update begins with a row once the subquery has locked it.
    const held = await sql`
      update corpus_sources as source set loader_until = ${laterBy(time, CLAIM_MS)}
      from (select id from corpora where id = ${load.corpusId} for no key update) as corpus
      where source.id = ${load.sourceId} and source.corpus_id = corpus.id and source.generation = ${load.generation}
        and source.loader = ${load.jobId} and source.loader_attempt = ${load.attemptId}
      returning source.id`.execute(tx.query);
    if (held.rows.length === 0) throw new LoadLostError();
    return work(tx);
  });
}

/** Leaves the rest of the load to the next job. */
export async function releaseLoad(db: Db, { sourceId, jobId, attemptId }: Load): Promise<void> {
  await sql`update corpus_sources set loader = null, loader_until = ${laterBy(databaseTime, QUEUED_MS)}
    where id = ${sourceId} and loader = ${jobId} and loader_attempt = ${attemptId}`.execute(db.query);
}

/** Within `inLoad`: the load is done. Documents that it has not found again are deleted. */
export async function finishLoad(tx: Db, load: Load): Promise<void> {
  const { sourceId, corpusId, generation } = load;
  await sql`delete from corpus_documents where source_id = ${sourceId} and generation < ${generation}`.execute(
    tx.query,
  );
  await sql`delete from corpus_pages where source_id = ${sourceId}
    and (generation < ${generation} or state <> 'failed')`.execute(tx.query);
  await sql`update corpus_sources set loaded_at = ${databaseTime}, loaded_generation = ${generation},
    loader = null, loader_until = null where id = ${sourceId}`.execute(tx.query);
  await noteReady(tx, corpusId);
}

/** After documents came or went: whether the corpus has been ready since it was last empty. */
export async function noteReady(tx: Db, corpusId: string): Promise<void> {
  const documents = sql`exists (select 1 from corpus_documents where corpus_id = corpora.id
    and source_id is not null and status = 'ready')`;
  await sql`update corpora set ready_at = case when ${documents} then coalesce(ready_at, ${databaseTime}) end
    where id = ${corpusId}`.execute(tx.query);
}

/** A load without a job for this long has lost it, for example because its last attempt was cut off. */
const STALLED_MS = 60_000;
const STALLED_AT_ONCE = 100;
/** How long a queued job may wait for its turn. Without a loader, `loader_until` is the end of this time. */
const QUEUED_MS = 600_000;

/**
 * Within the transaction that queues a job for a stalled load: it does not count as stalled while the job waits, so that
 * a long queue does not get another job for each source with every sweep. False: it is not stalled any more.
 */
export async function noteQueued(tx: Db, { sourceId }: LoadIds): Promise<boolean> {
  const noted = await sql`
    update corpus_sources set loader = null, loader_until = ${laterBy(databaseTime, QUEUED_MS)}
    where id = ${sourceId} and ${isDue} and (loader_until is null or loader_until < ${databaseTime})
    returning id`.execute(tx.query);
  return noted.rows.length > 0;
}

/** Sources that should be loaded and that no job has. */
export async function listStalledLoads(db: Db, time: SqlTime = databaseTime): Promise<LoadIds[]> {
  const read = await sql<LoadIds>`
    select account_id as "accountId", id as "sourceId" from corpus_sources
    where ${isDue} and load_requested_at < ${laterBy(time, -STALLED_MS)}
      and (loader_until is null or loader_until < ${time})
    order by load_requested_at limit ${STALLED_AT_ONCE}`.execute(db.query);
  return read.rows;
}
