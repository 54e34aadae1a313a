/**
 * Full-text search in the chunks of a corpus: BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
 * 2009) over the words of the chunks. PostgreSQL's own ranks do not know how rare a word is.
 */

import { sql, type RawBuilder } from "kysely";
import type { Db } from "../../database/db.ts";
import { ofStoredDocument } from "../chunks-to-remove.ts";
import { dictionaryOf } from "../words.ts";
import { readSize, type CorpusSize } from "./corpus-size.ts";
import { termsOf, type QueryTerm } from "./query-terms.ts";
import { openTermCounts } from "./term-counts.ts";

export interface TextHit {
  readonly chunkId: number;
  /** Of BM25: comparable within one search only. */
  readonly weight: number;
  /** How much of the question the chunk has: the share of its words, each weighed by how rare it is. 0 to 1. */
  readonly coverage: number;
}

/** The usual constants of BM25: how soon repetitions stop to count, and how much the length of a chunk counts. */
const K1 = 1.2;
const B = 0.75;
/** A word that more chunks have is common: those that have it are not looked at one by one. */
export const COMMON_FROM = 2_000;
/** What a common word is taken for, because its chunks are not counted to the end. */
const COMMON_SHARE = 4;
/** Chunks that are weighed, some milliseconds. */
const MAX_WEIGHED = 3_000;
/** Common words that are looked for in the chunks of the rare ones; each is a walk through the index. */
const MAX_COMMON = 3;
/** Where all words are common, a chunk must have all of the rarest ones. */
const MAX_REQUIRED = 4;
/** The best of them are weighed again, with the number of repetitions. */
const REFINED_FACTOR = 2;

interface WeighedTerm extends QueryTerm {
  readonly chunks: number;
  readonly idf: number;
}

/** Best first. `known`: the size of the corpus, where it was read already. */
export async function searchText(
  db: Db,
  corpusId: string,
  question: string,
  limit: number,
  known?: CorpusSize,
): Promise<readonly TextHit[]> {
  const size = known ?? (await readSize(db, corpusId));
  if (size.chunks === 0) return [];
  const terms = await termsOf(db, dictionariesOf(size), question);
  if (terms.length === 0) return [];
  const counts = await termCounts.read(db, corpusId, terms, size);
  const weighed = weigh(terms, counts, size.chunks);
  const present = weighed.filter(({ chunks }) => chunks > 0).toSorted((a, b) => a.chunks - b.chunks);
  let sum = 0;
  const rare = present.filter(({ chunks }) => {
    sum += chunks;
    return sum <= MAX_WEIGHED;
  });
  const parts = { db, corpusId, size, weighed, limit };
  if (rare.length > 0) {
    const common = present.slice(rare.length, rare.length + MAX_COMMON);
    return best(parts, [
      ...rare.map((term) => ({ condition: hasAny(corpusId, term.lexemes), idf: term.idf })),
      ...common.map(({ lexemes, idf }) => ({
        condition: sql`${hasAny(
          corpusId,
          rare.flatMap((term) => [...term.lexemes]),
        )} and ${hasAny(corpusId, lexemes)}`,
        idf,
      })),
    ]);
  }
  // Only common words. Where no chunk has all of them, one less is required.
  for (let required = Math.min(MAX_REQUIRED, present.length); required > 0; required -= 1) {
    const all = present.slice(0, required).map(({ lexemes }) => hasAny(corpusId, lexemes));
    const found = await best(parts, [{ condition: sql.join(all, sql` and `), idf: 1 }]);
    if (found.length > 0) return found;
  }
  return [];
}

/** Common words are the same from question to question, and counting them takes longest. */
const termCounts = openTermCounts(
  { mostCounted: COMMON_FROM + 1, conditionOf: (corpusId, { lexemes }) => hasAny(corpusId, lexemes) },
  () => performance.now(),
);

/** Most corpora have one language. More dictionaries would find little, and each takes its time. */
const MAX_DICTIONARIES = 4;

function dictionariesOf({ languages }: CorpusSize): readonly string[] {
  return [...new Set(languages.map(dictionaryOf))].slice(0, MAX_DICTIONARIES);
}

/** A chunk of the corpus that has one of the words, in the form that the index has. */
function hasAny(corpusId: string, lexemes: readonly string[]): RawBuilder<unknown> {
  const keys = sql.join(lexemes.map((lexeme) => sql`corpus_word_key(${corpusId}::uuid, ${lexeme}::text)`));
  const words = sql`corpus_word_keys(corpus_id, words)`;
  const found = lexemes.length === 1 ? sql`${words} @> array[${keys}]` : sql`${words} && array[${keys}]`;
  // Two corpora may have words with the same key. In this form no other index can be used for the condition: without
  // statistics the planner would take the one by corpus, and read all of its chunks.
  return sql`(${found} and corpus_id is not distinct from ${corpusId}::uuid)`;
}

function weigh(terms: readonly QueryTerm[], counts: readonly number[], all: number): readonly WeighedTerm[] {
  return terms.map((term, place) => {
    const counted = counts[place] ?? 0;
    const chunks = counted > COMMON_FROM ? Math.max(counted, all / COMMON_SHARE) : counted;
    const idf = Math.log(1 + (Math.max(0, all - chunks) + 0.5) / (chunks + 0.5));
    return { ...term, chunks, idf };
  });
}

interface Parts {
  readonly db: Db;
  readonly corpusId: string;
  readonly size: CorpusSize;
  readonly weighed: readonly WeighedTerm[];
  readonly limit: number;
}

/** The chunks that meet a condition, which counts with the weight of its word. */
interface Finding {
  readonly condition: RawBuilder<unknown>;
  readonly idf: number;
}

interface Candidate {
  readonly chunkId: number;
  readonly tokens: number;
  /** Repetitions of each lexeme of the question. */
  readonly repetitions: Readonly<Record<string, number>> | null;
}

/** Which chunks have which words comes from the index alone: their own words are read of the best ones only. */
async function best(
  { db, corpusId, size, weighed, limit }: Parts,
  findings: readonly Finding[],
): Promise<readonly TextHit[]> {
  const stored = size.hasDeletedChunks ? sql`and ${ofStoredDocument}` : sql``;
  const found = findings.map(
    ({ condition, idf }) => sql`(
      select chunk_id, tokens, ${idf}::float8 as idf from corpus_chunks where ${condition} ${stored}
      limit ${MAX_WEIGHED})`,
  );
  const lengths = sql`(${1 - B}::float8 + ${B}::float8 * tokens / ${size.meanTokens}::float8)`;
  const lexemes = weighed.flatMap((term) => [...term.lexemes]);
  const read = await sql<Candidate>`
    with best as materialized (
      select chunk_id, sum(idf) / (1 + ${K1}::float8 * ${lengths}) as weight
      from (${sql.join(found, sql` union all `)}) as found
      group by chunk_id, tokens order by weight desc, chunk_id limit ${limit * REFINED_FACTOR}
    )
    select chunk.chunk_id as "chunkId", chunk.tokens, (
      -- Only the words of the question, before each word becomes a row.
      select json_object_agg(word.lexeme, cardinality(word.positions))
      from unnest(ts_filter(setweight(chunk.words, 'A', ${lexemes}::text[]), '{a}')) as word
    ) as repetitions
    -- One by one: without statistics the planner would read all chunks of the corpus.
    from best cross join lateral (
      select chunk_id, corpus_id, tokens, words from corpus_chunks where corpus_chunks.chunk_id = best.chunk_id limit 1
    ) as chunk
    where chunk.corpus_id = ${corpusId}`.execute(db.query);
  const total = weighed.reduce((sum, { idf }) => sum + idf, 0);
  return read.rows
    .map((candidate) => hitOf(candidate, weighed, { meanTokens: size.meanTokens, total }))
    .toSorted((a, b) => b.weight - a.weight || a.chunkId - b.chunkId)
    .slice(0, limit);
}

function hitOf(
  { chunkId, tokens, repetitions }: Candidate,
  terms: readonly WeighedTerm[],
  { meanTokens, total }: { readonly meanTokens: number; readonly total: number },
): TextHit {
  const length = 1 - B + (B * tokens) / meanTokens;
  let weight = 0;
  let covered = 0;
  for (const { lexemes, idf } of terms) {
    const count = lexemes.reduce((sum, lexeme) => sum + (repetitions?.[lexeme] ?? 0), 0);
    if (count === 0) continue;
    weight += (idf * count * (K1 + 1)) / (count + K1 * length);
    covered += idf;
  }
  return { chunkId, weight, coverage: total === 0 ? 0 : covered / total };
}
