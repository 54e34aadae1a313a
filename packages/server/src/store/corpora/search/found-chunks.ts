/** Reads the chunks that a search has found. */

import { sql } from "kysely";
import type { Db } from "../../database/db.ts";

export interface FoundChunk {
  readonly chunkId: number;
  readonly text: string;
  readonly headingPath: readonly string[];
  readonly page: number | null;
  readonly sourceId: string;
  readonly documentId: string;
  readonly url: string | null;
  readonly title: string | null;
}

/** In any order. Chunks that were deleted meanwhile are left out. */
export async function readFoundChunks(
  db: Db,
  accountId: string,
  corpusId: string,
  chunkIds: readonly number[],
): Promise<readonly FoundChunk[]> {
  if (chunkIds.length === 0) return [];
  const read = await sql<FoundChunk>`
    select chunk.chunk_id as "chunkId", chunk.text, chunk.heading_path as "headingPath", chunk.page,
      chunk.source_id as "sourceId", chunk.document_id as "documentId", document.url,
      coalesce(document.title, nullif(document.file_name, '')) as title
    from corpus_chunks as chunk join corpus_documents as document on document.id = chunk.document_id
    where chunk.chunk_id = any(${[...chunkIds]}::bigint[]) and chunk.corpus_id = ${corpusId}
      and chunk.account_id = ${accountId}`.execute(db.query);
  return read.rows;
}
