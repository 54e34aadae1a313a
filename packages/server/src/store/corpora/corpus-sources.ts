/** Sources of corpora, and their documents. */

import { randomUUID } from "node:crypto";
import { MAX_SOURCES, type SourceKind, type SourceStatus } from "@parley/schema";
import { sql } from "kysely";
import type { Row } from "../database/database.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import { newestFirst, readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { TooManySourcesError, UnknownDocumentsError } from "../database/store-errors.ts";
import { lockCorpus } from "./corpora.ts";
import { noteReady } from "./loads.ts";

/** Dates are ISO 8601 UTC with milliseconds. */
export interface SourceRow {
  readonly sourceId: string;
  readonly corpusId: string;
  readonly createdAt: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly kind: SourceKind;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: SourceStatus;
  readonly lastUpdatedAt: string | null;
  readonly documentsCount: number;
}

export interface NewSource {
  readonly name: string | null;
  readonly description: string | null;
  readonly kind: SourceKind;
  readonly spec: object;
  /** Ids of uploaded documents that the source takes over, in lower case. */
  readonly documentIds: readonly string[];
}

/**
 * Creates a source that waits to be loaded. Null: the account has no such corpus.
 * @throws TooManySourcesError when the corpus has `MAX_SOURCES`.
 * @throws UnknownDocumentsError when documents are not in the corpus, or belong to another source.
 */
export async function createSource(
  db: Db,
  accountId: string,
  corpusId: string,
  source: NewSource,
): Promise<SourceRow | null> {
  const sourceId = randomUUID();
  return inTransaction(db, async (tx) => {
    if (!(await lockCorpus(tx, accountId, corpusId))) return null;
    const counted = await sql<{ count: number }>`
      select count(*) as count from corpus_sources where corpus_id = ${corpusId}`.execute(tx.query);
    if ((counted.rows[0]?.count ?? 0) >= MAX_SOURCES) throw new TooManySourcesError();
    const now = new Date();
    await sql`
      insert into corpus_sources (id, corpus_id, account_id, name, description, kind, spec, created_at,
        load_requested_at)
      values (${sourceId}, ${corpusId}, ${accountId}, ${storable(source.name)}, ${storable(source.description)},
        ${source.kind}, ${toJsonText(source.spec)}::json, ${now}, ${now})`.execute(tx.query);
    await takeDocuments(tx, corpusId, sourceId, source.documentIds);
    return getSource(tx, accountId, corpusId, sourceId);
  });
}

export async function getSource(
  db: Db,
  accountId: string,
  corpusId: string,
  sourceId: string,
): Promise<SourceRow | null> {
  const read = await sql<SourceColumns>`
    select ${sourceColumns} from corpus_sources as source
    where source.id = ${sourceId} and source.corpus_id = ${corpusId} and source.account_id = ${accountId}`.execute(
    db.query,
  );
  const [columns] = read.rows;
  return columns === undefined ? null : toSourceRow(columns);
}

/** Newest first. */
export async function listSources(
  db: Db,
  accountId: string,
  corpusId: string,
  page: PageQuery,
): Promise<PageRows<SourceRow>> {
  const read = await readPage<SourceColumns>(
    db,
    {
      columns: sourceColumns,
      from: sql`corpus_sources as source`,
      where: [sql`source.account_id = ${accountId}`, sql`source.corpus_id = ${corpusId}`],
      sort: sql`source.created_at`,
      sortType: "timestamptz",
      id: sql`source.id`,
      idType: "uuid",
      descending: true,
    },
    page,
  );
  return { ...read, rows: read.rows.map(toSourceRow) };
}

/**
 * Stores what `decide` returns for the present source, and requests another load. When `decide` throws, nothing is
 * changed. Null: the corpus has no such source.
 * @throws UnknownDocumentsError as `createSource` does.
 */
export async function updateSource(
  db: Db,
  accountId: string,
  corpusId: string,
  sourceId: string,
  decide: (present: SourceRow) => NewSource,
): Promise<SourceRow | null> {
  return inTransaction(db, async (tx) => {
    if (!(await lockCorpus(tx, accountId, corpusId))) return null;
    const present = await getSource(tx, accountId, corpusId, sourceId);
    if (present === null) return null;
    const source = decide(present);
    await sql`
      update corpus_sources set name = ${storable(source.name)}, description = ${storable(source.description)},
        spec = ${toJsonText(source.spec)}::json, load_requested_at = ${new Date()}, generation = generation + 1,
        loader = null, loader_until = null
      where id = ${sourceId} and account_id = ${accountId}`.execute(tx.query);
    await takeDocuments(tx, corpusId, sourceId, source.documentIds);
    // Whoever asks for another load wants every document tried again.
    await sql`update corpus_documents set attempts = 0 where source_id = ${sourceId} and attempts > 0`.execute(
      tx.query,
    );
    return getSource(tx, accountId, corpusId, sourceId);
  });
}

/** Deletes a source with its documents and chunks. False: the corpus has no such source. */
export async function deleteSource(
  db: Db,
  accountId: string,
  corpusId: string,
  sourceId: string,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    if (!(await lockCorpus(tx, accountId, corpusId))) return false;
    const deleted = await sql`delete from corpus_sources
      where id = ${sourceId} and corpus_id = ${corpusId} and account_id = ${accountId} returning id`.execute(
      tx.query,
    );
    if (deleted.rows.length === 0) return false;
    await noteReady(tx, corpusId);
    return true;
  });
}

export interface DocumentRow {
  readonly documentId: string;
  readonly corpusId: string;
  readonly sourceId: string;
  readonly createdAt: string;
  readonly mimeType: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly sizeBytes: number;
}

const documentColumns = sql`id as "documentId", corpus_id as "corpusId", source_id as "sourceId",
  created_at as "createdAt", mime_type as "mimeType", metadata, size_bytes as "sizeBytes"`;

/** Newest first. */
export async function listDocuments(
  db: Db,
  accountId: string,
  sourceId: string,
  page: PageQuery,
): Promise<PageRows<DocumentRow>> {
  return readPage<DocumentRow>(
    db,
    {
      columns: documentColumns,
      from: sql`corpus_documents`,
      where: [sql`account_id = ${accountId}`, sql`source_id = ${sourceId}`, sql`status <> 'failed'`],
      ...newestFirst,
    },
    page,
  );
}

export async function getDocument(
  db: Db,
  accountId: string,
  sourceId: string,
  documentId: string,
): Promise<DocumentRow | null> {
  const read = await sql<DocumentRow>`
    select ${documentColumns} from corpus_documents
    where id = ${documentId} and source_id = ${sourceId} and account_id = ${accountId}`.execute(db.query);
  return read.rows[0] ?? null;
}

async function takeDocuments(
  tx: Db,
  corpusId: string,
  sourceId: string,
  documentIds: readonly string[],
): Promise<void> {
  if (documentIds.length === 0) return;
  const taken = await sql<Pick<Row<"corpus_documents">, "id">>`
    update corpus_documents set source_id = ${sourceId}
    where id = any(${[...documentIds]}::uuid[]) and corpus_id = ${corpusId}
      and (source_id is null or source_id = ${sourceId}) and status <> 'expected' returning id`.execute(
    tx.query,
  );
  const known = new Set(taken.rows.map(({ id }) => id));
  const unknown = documentIds.flatMap((id, index) => (known.has(id) ? [] : [index]));
  if (unknown.length > 0) throw new UnknownDocumentsError(unknown);
  await sql`
    delete from corpus_documents
    where source_id = ${sourceId} and id <> all(${[...documentIds]}::uuid[])`.execute(tx.query);
}

interface SourceColumns extends Omit<SourceRow, "status"> {
  readonly loading: boolean;
}

const sourceColumns = sql`source.id as "sourceId", source.corpus_id as "corpusId", source.created_at as "createdAt",
  source.name, source.description, source.kind, source.spec, source.loaded_at as "lastUpdatedAt",
  (select count(*) from corpus_documents where source_id = source.id and status = 'ready') as "documentsCount",
  (source.loaded_generation is null or source.loaded_generation < source.generation) as loading`;

/** INITIALIZING: its first load has not finished, or not begun. */
function toSourceRow({ loading, ...columns }: SourceColumns): SourceRow {
  if (!loading) return { ...columns, status: "SOURCE_STATUS_READY" };
  return {
    ...columns,
    status: columns.lastUpdatedAt === null ? "SOURCE_STATUS_INITIALIZING" : "SOURCE_STATUS_UPDATING",
  };
}

function storable(text: string | null): string | null {
  return text === null ? null : toStorableText(text);
}
