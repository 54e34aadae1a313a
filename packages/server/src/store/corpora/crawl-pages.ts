/** The pages of a crawl: which wait, and what became of the others. They survive the process that crawls. */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { creationTime } from "../database/creation-time.ts";
import { databaseTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";
import { toStorableText } from "../database/json-text.ts";
import type { PageState } from "../database/tables/corpora.ts";
import type { LoadFailure } from "./documents.ts";
import type { Load } from "./loads.ts";

export interface WaitingPage {
  readonly pageId: number;
  readonly url: string;
  /** 1: a start page. */
  readonly depth: number;
  readonly attempts: number;
}

/** Within `inLoad`: adds pages that the crawl does not know yet, up to `maxPages` pages of the crawl together. */
export async function addPages(
  tx: Db,
  { sourceId, corpusId, accountId, generation }: Load,
  urls: readonly string[],
  { depth, maxPages }: { readonly depth: number; readonly maxPages: number },
): Promise<void> {
  if (urls.length === 0) return;
  const counted = await sql<{ count: number }>`select count(*) as count from corpus_pages
    where source_id = ${sourceId} and generation = ${generation}`.execute(tx.query);
  const room = Math.max(0, maxPages - (counted.rows[0]?.count ?? 0));
  await sql`
    insert into corpus_pages (source_id, corpus_id, account_id, generation, url, depth, created_at)
    select ${sourceId}::uuid, ${corpusId}::uuid, ${accountId}::uuid, ${generation}::int, found.url, ${depth}::int,
      ${databaseTime}
    from unnest(${urls.map(toStorableText)}::text[]) with ordinality as found (url, place)
    where not exists (select 1 from corpus_pages as known where known.source_id = ${sourceId}
      and known.generation = ${generation} and known.url = found.url)
    order by place limit ${room} on conflict do nothing`.execute(tx.query);
}

/** Breadth first; null: none waits. */
export async function nextPage(db: Db, { sourceId, generation }: Load): Promise<WaitingPage | null> {
  const read = await sql<WaitingPage>`
    select id as "pageId", url, depth, attempts from corpus_pages
    where source_id = ${sourceId} and generation = ${generation} and state = 'waiting'
    order by depth, attempts, id limit 1`.execute(db.query);
  return read.rows[0] ?? null;
}

export async function hasPages(db: Db, { sourceId, generation }: Load): Promise<boolean> {
  const read = await sql`select 1 from corpus_pages
    where source_id = ${sourceId} and generation = ${generation} limit 1`.execute(db.query);
  return read.rows.length > 0;
}

/** Whether the crawl has left the page for the one that it redirects to or names as its own. */
export async function isSkippedPage(db: Db, { sourceId, generation }: Load, url: string): Promise<boolean> {
  const read = await sql`select 1 from corpus_pages where source_id = ${sourceId}
    and generation = ${generation} and url = ${toStorableText(url)} and state = 'skipped'`.execute(db.query);
  return read.rows.length > 0;
}

/** Within `inLoad`. */
export async function notePageAttempt(tx: Db, pageId: number): Promise<void> {
  await sql`update corpus_pages set attempts = attempts + 1 where id = ${pageId}`.execute(tx.query);
}

/** Within `inLoad`. */
export async function markPage(
  tx: Db,
  pageId: number,
  state: PageState,
  failure: LoadFailure | null = null,
): Promise<void> {
  const message = failure === null ? null : toStorableText(failure.message);
  await sql`update corpus_pages set state = ${state}, failure_code = ${failure?.code ?? null}, failure = ${message}
    where id = ${pageId}`.execute(tx.query);
}

/** Documents that this generation has loaded or confirmed. */
export async function countLoadedPages(db: Db, { sourceId, generation }: Load): Promise<number> {
  const read = await sql<{ count: number }>`select count(*) as count from corpus_documents
    where source_id = ${sourceId} and generation = ${generation}`.execute(db.query);
  return read.rows[0]?.count ?? 0;
}

/** Within `inLoad`: the record of a page, new or of an earlier load. Returns its id. */
export async function makePageDocument(tx: Db, load: Load, url: string, mimeType: string): Promise<string> {
  const made = await sql<{ id: string }>`
    insert into corpus_documents (id, corpus_id, account_id, source_id, mime_type, metadata, size_bytes, created_at,
      url, status)
    values (${randomUUID()}, ${load.corpusId}, ${load.accountId}, ${load.sourceId}, ${mimeType}, '{}', 0,
      ${creationTime()}, ${toStorableText(url)}, 'uploaded')
    on conflict (source_id, url) where url is not null do update set mime_type = excluded.mime_type
    returning id`.execute(tx.query);
  const [row] = made.rows;
  if (row === undefined) throw new Error("the inserted document was not found");
  return row.id;
}

/** Within `inLoad`: the page is gone. Returns whether it had a document. */
export async function deletePageDocument(tx: Db, { sourceId }: Load, url: string): Promise<boolean> {
  const deleted = await sql`delete from corpus_documents where source_id = ${sourceId} and url = ${url}
    returning id`.execute(tx.query);
  return deleted.rows.length > 0;
}
