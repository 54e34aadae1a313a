/** What searches have to know of a corpus. */

import { sql } from "kysely";
import type { Db } from "../../database/db.ts";

export interface CorpusSize {
  readonly chunks: number;
  /** Chunks with vectors. */
  readonly vectors: number;
  /** Chunks that have come or gone since the corpus was made. */
  readonly changed: number;
  /** Of a chunk; at least 1. */
  readonly meanTokens: number;
  /** Of the documents, that of most documents first; null: unknown. */
  readonly languages: readonly (string | null)[];
  /** Some chunks are of deleted documents, and wait to be deleted. */
  readonly hasDeletedChunks: boolean;
}

/** Languages that are looked at; several have the same dictionary. */
const MAX_LANGUAGES = 16;
/** Chunks whose tokens give the mean. */
const SAMPLE = 200;

export async function readSize(db: Db, corpusId: string): Promise<CorpusSize> {
  const read = await sql<{
    chunks: number | null;
    vectors: number | null;
    changed: number | null;
    meanTokens: number | null;
    languages: (string | null)[] | null;
    hasDeletedChunks: boolean;
  }>`
    with languages as (
      select language, count(*) as documents, sum(chunks_count) as chunks,
        sum(vectors_count) as vectors
      from corpus_documents
      where corpus_id = ${corpusId} and chunks_count > 0
      group by language order by count(*) desc, language
    )
    select (select sum(chunks) from languages) as chunks, (select sum(vectors) from languages) as vectors,
      (select chunks_changed from corpora where id = ${corpusId}) as changed,
      (select json_agg(language) from (select language from languages limit ${MAX_LANGUAGES}) as most) as languages,
      (select avg(tokens)::float8 from (
        select tokens from corpus_chunks where corpus_id = ${corpusId} limit ${SAMPLE}) as sample) as "meanTokens",
      exists (select 1 from corpus_chunks_to_remove where corpus_id = ${corpusId}) as "hasDeletedChunks"`.execute(
    db.query,
  );
  const { chunks, vectors, changed, meanTokens, languages, hasDeletedChunks = false } = read.rows[0] ?? {};
  return {
    chunks: chunks ?? 0,
    vectors: vectors ?? 0,
    changed: changed ?? 0,
    meanTokens: Math.max(1, meanTokens ?? 1),
    languages: languages ?? [],
    hasDeletedChunks,
  };
}
