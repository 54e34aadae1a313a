/** Corpora. Their sources and documents are in `corpus-sources.ts`. */

import { randomUUID } from "node:crypto";
import type { CorpusStatus } from "@parley/schema";
import { sql } from "kysely";
import { creationTime } from "../database/creation-time.ts";
import type { Db } from "../database/db.ts";
import { toStorableText } from "../database/json-text.ts";
import { readPage, type PageQuery, type PageRows } from "../database/page.ts";

/** Dates are ISO 8601 UTC with milliseconds. */
export interface CorpusRow {
  readonly corpusId: string;
  readonly createdAt: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly status: CorpusStatus;
  /** When a source was last loaded. */
  readonly lastUpdatedAt: string | null;
  readonly chunksCount: number;
  readonly documentsCount: number;
  readonly vectorsCount: number;
}

export interface NewCorpus {
  readonly name: string | null;
  readonly description: string | null;
}

export async function createCorpus(
  db: Db,
  accountId: string,
  { name, description }: NewCorpus,
): Promise<CorpusRow> {
  const corpusId = randomUUID();
  await sql`
    insert into corpora (id, account_id, name, description, created_at)
    values (${corpusId}, ${accountId}, ${storable(name)}, ${storable(description)}, ${creationTime()})`.execute(
    db.query,
  );
  const row = await getCorpus(db, accountId, corpusId);
  if (row === null) throw new Error("the inserted corpus was not found");
  return row;
}

export async function getCorpus(db: Db, accountId: string, corpusId: string): Promise<CorpusRow | null> {
  const read = await sql<CorpusColumns>`
    select ${corpusColumns} from corpora where id = ${corpusId} and account_id = ${accountId}`.execute(
    db.query,
  );
  const [columns] = read.rows;
  return columns === undefined ? null : toCorpusRow(columns);
}

/** Newest first. */
export async function listCorpora(db: Db, accountId: string, page: PageQuery): Promise<PageRows<CorpusRow>> {
  const read = await readPage<CorpusColumns>(
    db,
    {
      columns: corpusColumns,
      from: sql`corpora`,
      where: [sql`corpora.account_id = ${accountId}`],
      sort: sql`corpora.created_at`,
      sortType: "timestamptz",
      id: sql`corpora.id`,
      idType: "uuid",
      descending: true,
    },
    page,
  );
  return { ...read, rows: read.rows.map(toCorpusRow) };
}

/** An absent member stays as it is. Null: the account has no such corpus. */
export async function updateCorpus(
  db: Db,
  accountId: string,
  corpusId: string,
  { name, description }: { readonly [K in keyof NewCorpus]?: NewCorpus[K] | undefined },
): Promise<CorpusRow | null> {
  await sql`
    update corpora set name = ${name === undefined ? sql`name` : storable(name)},
      description = ${description === undefined ? sql`description` : storable(description)}
    where id = ${corpusId} and account_id = ${accountId}`.execute(db.query);
  return getCorpus(db, accountId, corpusId);
}

/**
 * Within a transaction, before any other row of the corpus is locked: changes of one corpus and its sources wait for each
 * other. False: the account has no such corpus.
 */
export async function lockCorpus(tx: Db, accountId: string, corpusId: string): Promise<boolean> {
  const locked = await sql`
    select id from corpora where id = ${corpusId} and account_id = ${accountId} for no key update`.execute(
    tx.query,
  );
  return locked.rows.length === 1;
}

/**
 * Deletes a corpus with what it still has: most is deleted before, by `emptyCorpus`.
 * False: the account has no such corpus.
 */
export async function deleteCorpus(db: Db, accountId: string, corpusId: string): Promise<boolean> {
  const deleted = await db.query
    .deleteFrom("corpora")
    .where("id", "=", corpusId)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return deleted.numDeletedRows === 1n;
}

interface CorpusColumns extends Omit<CorpusRow, "status"> {
  /** A source waits to be loaded, for the first time or again. */
  readonly loading: boolean;
  /** A source waits to be loaded for the first time. */
  readonly initializing: boolean;
  /** A load has left documents since the corpus was last empty. */
  readonly hasBeenReady: boolean;
}

const documents = sql`from corpus_documents where corpus_id = corpora.id and source_id is not null
  and status = 'ready'`;
const sources = sql`from corpus_sources where corpus_id = corpora.id`;

const corpusColumns = sql`corpora.id as "corpusId", corpora.created_at as "createdAt", corpora.name,
  corpora.description, (select max(loaded_at) ${sources}) as "lastUpdatedAt",
  (select count(*) ${documents}) as "documentsCount",
  (select coalesce(sum(chunks_count), 0) ${documents}) as "chunksCount",
  (select coalesce(sum(vectors_count), 0) ${documents}) as "vectorsCount",
  exists (select 1 ${sources} and (loaded_generation is null or loaded_generation < generation)) as loading,
  exists (select 1 ${sources} and loaded_generation is null) as initializing,
  ready_at is not null as "hasBeenReady"`;

function toCorpusRow({ loading, initializing, hasBeenReady, ...columns }: CorpusColumns): CorpusRow {
  const { documentsCount } = columns;
  return { ...columns, status: statusOf({ documentsCount, loading, initializing, hasBeenReady }) };
}

/** INITIALIZING as soon as the first source is accepted, before its load begins, and until a load has ended (D78). */
function statusOf({
  documentsCount,
  loading,
  initializing,
  hasBeenReady,
}: Pick<CorpusColumns, "documentsCount" | "loading" | "initializing" | "hasBeenReady">): CorpusStatus {
  if (documentsCount === 0) return initializing ? "CORPUS_STATUS_INITIALIZING" : "CORPUS_STATUS_EMPTY";
  if (!loading) return "CORPUS_STATUS_READY";
  return hasBeenReady ? "CORPUS_STATUS_UPDATING" : "CORPUS_STATUS_INITIALIZING";
}

function storable(text: string | null): string | null {
  return text === null ? null : toStorableText(text);
}
