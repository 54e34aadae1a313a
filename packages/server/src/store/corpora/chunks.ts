/**
 * Chunks of documents. A chunk that a reload finds again keeps its row, and so its vectors. Many changes are written in
 * portions: after a crash those that are stored are found again by their hashes, so that none is written twice.
 */

import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Row } from "../database/database.ts";
import type { Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import { readPage, type PageQuery, type PageRows } from "../database/page.ts";
import type { Load } from "./loads.ts";
import { dictionaryOf } from "./words.ts";

export interface NewChunk {
  readonly headingPath: readonly string[];
  readonly page: number | null;
  readonly text: string;
  readonly tokens: number;
}

interface AddedChunk extends NewChunk {
  readonly position: number;
  readonly hash: string;
}

interface MovedChunk {
  readonly id: number;
  readonly position: number;
  readonly page: number | null;
}

/** What turns the stored chunks of a document into its new ones. */
export interface ChunkChanges {
  readonly added: readonly AddedChunk[];
  readonly moved: readonly MovedChunk[];
  /** Ids. */
  readonly removed: readonly number[];
}

export function countChanges({ added, moved, removed }: ChunkChanges): number {
  return added.length + moved.length + removed.length;
}

/** Hashes that one statement reads: some 10 ms on the embedded database. A document has up to 10,000 chunks. */
const READ_AT_ONCE = 1_000;

type Stored = Pick<Row<"corpus_chunks">, "chunk_id" | "content_hash" | "position" | "page">;

export async function planChunks(
  db: Db,
  documentId: string,
  { chunks, language }: { readonly chunks: readonly NewChunk[]; readonly language: string | null },
): Promise<ChunkChanges> {
  const byHash = new Map<string, Stored[]>();
  for (const stored of await storedChunks(db, documentId)) {
    const same = byHash.get(stored.content_hash);
    if (same === undefined) byHash.set(stored.content_hash, [stored]);
    else same.push(stored);
  }
  const added: AddedChunk[] = [];
  const moved: MovedChunk[] = [];
  for (const [position, chunk] of chunks.entries()) {
    const hash = hashOf(chunk, language);
    const kept = byHash.get(hash)?.shift();
    if (kept === undefined) added.push({ ...chunk, position, hash });
    else if (kept.position !== position || kept.page !== chunk.page)
      moved.push({ id: kept.chunk_id, position, page: chunk.page });
  }
  const removed = [...byHash.values()].flatMap((left) => left.map(({ chunk_id: id }) => id));
  return { added, moved, removed };
}

async function storedChunks(db: Db, documentId: string): Promise<readonly Stored[]> {
  const all: Stored[] = [];
  for (let afterId = 0; ;) {
    const read = await sql<Stored>`select chunk_id, content_hash, position, page from corpus_chunks
      where document_id = ${documentId} and chunk_id > ${afterId}
      order by chunk_id limit ${READ_AT_ONCE}`.execute(db.query);
    all.push(...read.rows);
    afterId = read.rows.at(-1)?.chunk_id ?? afterId;
    // In the order of their places, so that of equal chunks the first ones stay.
    if (read.rows.length < READ_AT_ONCE) return all.toSorted((a, b) => a.position - b.position);
  }
}

/** The first `rows` changes, and those after them. New chunks come first, so that searches always find the old or the new ones. */
export function splitChanges(
  { added, moved, removed }: ChunkChanges,
  rows: number,
): readonly [first: ChunkChanges, rest: ChunkChanges] {
  const fromMoved = Math.max(0, rows - added.length);
  const fromRemoved = Math.max(0, fromMoved - moved.length);
  return [
    {
      added: added.slice(0, rows),
      moved: moved.slice(0, fromMoved),
      removed: removed.slice(0, fromRemoved),
    },
    { added: added.slice(rows), moved: moved.slice(fromMoved), removed: removed.slice(fromRemoved) },
  ];
}

/** Within `inLoad`. */
export async function applyChanges(
  tx: Db,
  load: Load,
  document: { readonly documentId: string; readonly language: string | null },
  { added, moved, removed }: ChunkChanges,
): Promise<void> {
  if (added.length > 0) await insert(tx, load, document, added);
  if (moved.length > 0) await move(tx, moved);
  if (removed.length > 0) await removeChunks(tx, removed);
}

async function insert(
  tx: Db,
  { accountId, corpusId, sourceId }: Load,
  { documentId, language }: { readonly documentId: string; readonly language: string | null },
  chunks: readonly AddedChunk[],
): Promise<void> {
  const rows = chunks.map((chunk) => ({
    position: chunk.position,
    path: chunk.headingPath,
    page: chunk.page,
    text: chunk.text,
    tokens: chunk.tokens,
    hash: chunk.hash,
    words: [...chunk.headingPath, chunk.text].join("\n"),
  }));
  await sql`
    insert into corpus_chunks (account_id, corpus_id, source_id, document_id, position, heading_path, page, text,
      tokens, language, content_hash, words)
    select ${accountId}::uuid, ${corpusId}::uuid, ${sourceId}::uuid, ${documentId}::uuid, position, path, page, text,
      tokens, ${language}, hash, to_tsvector(${dictionaryOf(language)}::regconfig, words)
    from json_to_recordset(${toJsonText(rows)}::json)
      as chunk (position int, path json, page int, text text, tokens int, hash text, words text)`.execute(
    tx.query,
  );
}

async function move(tx: Db, moved: readonly MovedChunk[]): Promise<void> {
  await sql`
    update corpus_chunks set position = moved.position, page = moved.page
    from unnest(${moved.map(({ id }) => id)}::bigint[], ${moved.map(({ position }) => position)}::int[],
      ${moved.map(({ page }) => page)}::int[]) as moved (chunk_id, position, page)
    where corpus_chunks.chunk_id = moved.chunk_id`.execute(tx.query);
}

async function removeChunks(tx: Db, chunkIds: readonly number[]): Promise<void> {
  await sql`delete from corpus_chunks where chunk_id = any(${[...chunkIds]}::bigint[])`.execute(tx.query);
}

/** Within `inLoad`: deletes some of the chunks of a document. Returns how many. */
export async function removeSomeChunks(tx: Db, documentId: string, rows: number): Promise<number> {
  const deleted = await sql`
    delete from corpus_chunks where chunk_id in (
      select chunk_id from corpus_chunks where document_id = ${documentId} limit ${rows}
    )`.execute(tx.query);
  return Number(deleted.numAffectedRows ?? 0n);
}

/** The language too, because it decides the words. */
function hashOf({ headingPath, text }: NewChunk, language: string | null): string {
  return createHash("sha256")
    .update(JSON.stringify([headingPath, toStorableText(text), dictionaryOf(language)]))
    .digest("hex");
}

export interface ChunkRow {
  readonly chunkId: number;
  readonly position: number;
  readonly headingPath: readonly string[];
  readonly page: number | null;
  readonly text: string;
  readonly tokens: number;
}

/** In the order of the document. */
export async function listChunks(
  db: Db,
  accountId: string,
  documentId: string,
  page: PageQuery,
): Promise<PageRows<ChunkRow>> {
  return readPage<ChunkRow>(
    db,
    {
      columns: sql`chunk_id as "chunkId", position, heading_path as "headingPath", page, text, tokens`,
      from: sql`corpus_chunks`,
      where: [sql`account_id = ${accountId}`, sql`document_id = ${documentId}`],
      sort: sql`position::bigint`,
      sortType: "bigint",
      id: sql`chunk_id`,
      idType: "bigint",
      descending: false,
    },
    page,
  );
}
