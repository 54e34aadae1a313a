/** Documents while their source is loaded. */

import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { PortionSize } from "../../pacing/portion-size.ts";
import { databaseTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import type { DocumentStatus } from "../database/tables/corpora.ts";
import {
  applyChanges,
  countChanges,
  planChunks,
  removeSomeChunks,
  splitChanges,
  type NewChunk,
} from "./chunks.ts";
import { inLoad, type Load } from "./loads.ts";

/** Raised when readers or chunks change so much that reloads should read unchanged documents again. */
export const READING_VERSION = 1;

export interface LoadingDocument {
  readonly documentId: string;
  readonly mimeType: string;
  readonly url: string | null;
  readonly status: DocumentStatus;
  readonly contentHash: string | null;
  readonly readingVersion: number;
  readonly attempts: number;
  readonly fileName: string | null;
  readonly fileNode: string | null;
  readonly fileIsShared: boolean;
}

const columns = sql`id as "documentId", mime_type as "mimeType", url, status, content_hash as "contentHash",
  reading_version as "readingVersion", attempts, file_name as "fileName", file_node as "fileNode", file_is_shared as "fileIsShared"`;

/**
 * The next uploaded document that this generation has not confirmed yet; null: none is left. One whose attempt was cut
 * off waits behind the others: if it ends the process, they are loaded first.
 */
export async function nextDocument(db: Db, { sourceId, generation }: Load): Promise<LoadingDocument | null> {
  const read = await sql<LoadingDocument>`
    select ${columns} from corpus_documents
    where source_id = ${sourceId} and generation < ${generation} and status <> 'expected'
    order by attempts, created_at, id limit 1`.execute(db.query);
  return read.rows[0] ?? null;
}

export async function findPageDocument(
  db: Db,
  { sourceId }: Load,
  url: string,
): Promise<LoadingDocument | null> {
  const read = await sql<LoadingDocument>`
    select ${columns} from corpus_documents where source_id = ${sourceId} and url = ${url}`.execute(db.query);
  return read.rows[0] ?? null;
}

/** Within `inLoad`, before the document is read: a document that ends the process each time is noticed by the count. */
export async function noteAttempt(tx: Db, documentId: string): Promise<void> {
  await sql`update corpus_documents set attempts = attempts + 1 where id = ${documentId}`.execute(tx.query);
}

/** Within `inLoad`: the attempt ended for a reason that has nothing to do with the document. */
export async function forgetAttempt(tx: Db, documentId: string): Promise<void> {
  await sql`update corpus_documents set attempts = greatest(0, attempts - 1) where id = ${documentId}`.execute(
    tx.query,
  );
}

export interface Reading {
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly contentHash: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly published: string | null;
  readonly language: string | null;
  readonly exampleQueries: readonly string[];
  readonly chunks: readonly NewChunk[];
}

/**
 * Chunks of one transaction. On the embedded database everything else waits for it, live calls included: 25 ms leave
 * room for the rest of the transaction and for slow moments.
 */
const portionSize = new PortionSize({ aimMs: 25, first: 8, most: 128 });

export interface Storing<Result> {
  /** Runs in the last transaction. `changed`: chunks that came or went. */
  readonly finish: (tx: Db, changed: number) => Promise<Result>;
  /** Between two transactions. */
  readonly signal: AbortSignal;
}

/**
 * Stores what was read, many chunks in several transactions. After a crash before the last one, the document is read again,
 * and only what is missing is written.
 */
export async function storeReading<Result>(
  db: Db,
  load: Load,
  document: Pick<LoadingDocument, "documentId" | "url">,
  reading: Reading,
  { finish, signal }: Storing<Result>,
): Promise<Result> {
  const { documentId } = document;
  const { language, chunks } = reading;
  const changes = await planChunks(db, documentId, { chunks, language });
  const changed = changes.added.length + changes.removed.length;
  for (let left = changes; ;) {
    signal.throwIfAborted();
    const [portion, rest] = splitChanges(left, portionSize.rows);
    const isLast = countChanges(rest) === 0;
    const apply = (tx: Db): Promise<void> => applyChanges(tx, load, { documentId, language }, portion);
    if (isLast) {
      return inLoad(db, load, async (tx) => {
        await apply(tx);
        await writeReading(tx, load, document, reading, changed > 0);
        return finish(tx, changed);
      });
    }
    await portionSize.timed(countChanges(portion), () =>
      inLoad(db, load, async (tx) => {
        await markUnfinished(tx, documentId);
        await apply(tx);
      }),
    );
    await setImmediate();
    left = rest;
  }
}

/** Its chunks are no longer those of any reading, so no load may take it for unchanged. */
async function markUnfinished(tx: Db, documentId: string): Promise<void> {
  await sql`update corpus_documents set reading_version = 0 where id = ${documentId} and reading_version <> 0`.execute(
    tx.query,
  );
}

async function writeReading(
  tx: Db,
  load: Load,
  { documentId, url }: Pick<LoadingDocument, "documentId" | "url">,
  reading: Reading,
  hasChanged: boolean,
): Promise<void> {
  const title = reading.title === null ? null : toStorableText(reading.title);
  await sql`
    update corpus_documents set status = 'ready', failure_code = null, failure = null, attempts = 0,
      mime_type = ${reading.mimeType}, size_bytes = ${reading.sizeBytes}, content_hash = ${reading.contentHash},
      reading_version = ${READING_VERSION}, title = ${title}, language = ${reading.language},
      metadata = ${toJsonText(metadataOf(url, reading))}::json, chunks_count = ${reading.chunks.length},
      chunks_version = chunks_version + ${hasChanged ? 1 : 0}, generation = ${load.generation},
      loaded_at = ${databaseTime}
    where id = ${documentId}`.execute(tx.query);
}

function metadataOf(
  url: string | null,
  { title, description, published, language, exampleQueries }: Reading,
): Record<string, unknown> {
  const given = { publicUrl: url, title, description, published, language };
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  return exampleQueries.length === 0 ? known : { ...known, exampleQueries };
}

/** Within `inLoad`: the document is as it was read before. Its example queries may be new. */
export async function confirmDocument(
  tx: Db,
  load: Load,
  documentId: string,
  exampleQueries: readonly string[] = [],
): Promise<void> {
  const asked =
    exampleQueries.length === 0 ? sql`'{}'::jsonb` : sql`${toJsonText({ exampleQueries })}::jsonb`;
  await sql`
    update corpus_documents set generation = ${load.generation}, attempts = 0, failure_code = null, failure = null,
      loaded_at = ${databaseTime}, metadata = ((metadata::jsonb - 'exampleQueries') || ${asked})::json
    where id = ${documentId}`.execute(tx.query);
}

export interface LoadFailure {
  /** A stable name, such as `encrypted`. */
  readonly code: string;
  /** One sentence. */
  readonly message: string;
}

/** The document cannot be read. Many chunks are deleted in several transactions; `finish` is as in `storeReading`. */
export async function failDocument<Result>(
  db: Db,
  load: Load,
  documentId: string,
  { code, message }: LoadFailure,
  finish: Storing<Result>["finish"],
): Promise<Result> {
  let changed = 0;
  for (;;) {
    const { rows } = portionSize;
    const deleted = await portionSize.timed(rows, () =>
      inLoad(db, load, async (tx) => {
        await markUnfinished(tx, documentId);
        return removeSomeChunks(tx, documentId, rows);
      }),
    );
    changed += deleted;
    if (deleted < rows) break;
    await setImmediate();
  }
  return inLoad(db, load, async (tx) => {
    await sql`
      update corpus_documents set status = 'failed', failure_code = ${code}, failure = ${toStorableText(message)},
        attempts = 0, chunks_count = 0, vectors_count = 0, chunks_version = chunks_version + 1,
        indexed_version = chunks_version + 1, reading_version = ${READING_VERSION}, generation = ${load.generation},
        loaded_at = ${databaseTime}
      where id = ${documentId}`.execute(tx.query);
    return finish(tx, changed);
  });
}

/** Within `inLoad`: the page could not be loaded now, and keeps the chunks of its last load. */
export async function keepDocument(
  tx: Db,
  load: Load,
  documentId: string,
  { code, message }: LoadFailure,
): Promise<void> {
  // Where a load was cut off while it replaced the chunks, some of them are new.
  await sql`
    update corpus_documents set failure_code = ${code}, failure = ${toStorableText(message)}, attempts = 0,
      generation = ${load.generation},
      chunks_version = chunks_version + case when reading_version = 0 then 1 else 0 end,
      chunks_count = case when reading_version > 0 then chunks_count else (
        select count(*) from corpus_chunks where document_id = corpus_documents.id) end
    where id = ${documentId}`.execute(tx.query);
}
