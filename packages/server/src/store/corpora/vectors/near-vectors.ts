/** Finds the chunks of a corpus whose vectors are nearest to one, with pgvector. */

import { sql, type RawBuilder } from "kysely";
import { inTransaction, type Db } from "../../database/db.ts";
import { nearStoredDocument } from "../chunks-to-remove.ts";
import { readSize, type CorpusSize } from "../search/corpus-size.ts";
import { vectorTable, type VectorModel } from "./vector-models.ts";
import { vectorValue } from "./vectors.ts";

export interface NearChunk {
  readonly chunkId: number;
  /** -1 to 1. */
  readonly cosine: number;
}

/** What chunks of the corpus usually have in common with the question: the measure for its nearest ones. */
export interface Background {
  readonly mean: number;
  readonly deviation: number;
  /** Chunks of the corpus that have vectors. */
  readonly count: number;
}

export interface NearChunks {
  /** Nearest first. */
  readonly near: readonly NearChunk[];
  readonly background: Background;
}

export interface NearSearch {
  readonly corpusId: string;
  /** Of length 1, with the dimensions of the model. */
  readonly vector: Float32Array;
  readonly limit: number;
  /** Of the corpus, where it was read already. */
  readonly size?: CorpusSize;
}

/**
 * The vectors of a corpus of up to this many chunks are all compared: it takes about 5 ms on the embedded database and finds all of
 * the nearest. An index over all corpora would have to pass over the chunks of the others.
 */
const EXACT_MAX = 5_000;
/** Candidates that the index keeps: more than the default of 40, because each vector has few neighbours in the graph. */
const EF_SEARCH = 160;
/** Vectors that the background of a larger corpus is measured with. */
const BACKGROUND_SAMPLE = 300;

export async function nearWithIndex(db: Db, model: VectorModel, search: NearSearch): Promise<NearChunks> {
  const size = search.size ?? (await readSize(db, search.corpusId));
  const { chunks, vectors, hasDeletedChunks } = size;
  const stored = hasDeletedChunks ? sql`and ${nearStoredDocument}` : sql``;
  return chunks <= EXACT_MAX
    ? compareAll(db, model, search, stored)
    : followIndex(db, model, search, { stored, count: Math.max(vectors, EXACT_MAX) });
}

/** pgvector's operator gives the negative inner product. */
function distance({ storage }: VectorModel, vector: Float32Array): RawBuilder<unknown> {
  return sql`(embedding <#> ${vectorValue(storage, vector)})`;
}

interface ExactRow extends NearChunk {
  readonly mean: number;
  readonly deviation: number | null;
  readonly count: number;
}

async function compareAll(
  db: Db,
  model: VectorModel,
  { corpusId, vector, limit }: NearSearch,
  stored: RawBuilder<unknown>,
): Promise<NearChunks> {
  const read = await sql<ExactRow>`
    with compared as materialized (
      select chunk_id, -${distance(model, vector)} as cosine from ${vectorTable(model)} as near
      where corpus_id = ${corpusId} ${stored}
    ), usual as (
      select avg(cosine) as mean, stddev_samp(cosine) as deviation, count(*) as count from compared
    )
    select chunk_id as "chunkId", cosine, mean, deviation, count from compared, usual
    order by cosine desc, chunk_id limit ${limit}`.execute(db.query);
  const [first] = read.rows;
  const background = {
    mean: first?.mean ?? 0,
    deviation: first?.deviation ?? 0,
    count: first?.count ?? 0,
  };
  return { near: read.rows.map(({ chunkId, cosine }) => ({ chunkId, cosine })), background };
}

interface FoundRow extends NearChunk {
  readonly mean: number | null;
  readonly deviation: number | null;
}

async function followIndex(
  db: Db,
  model: VectorModel,
  { corpusId, vector, limit }: NearSearch,
  { stored, count }: { readonly stored: RawBuilder<unknown>; readonly count: number },
): Promise<NearChunks> {
  const table = vectorTable(model);
  const rows = await inTransaction(db, async (tx) => {
    // Without sorting the planner must follow the index. Scans go on until enough chunks of the corpus are found.
    await sql`select set_config('hnsw.ef_search', ${String(Math.max(EF_SEARCH, limit))}, true),
      set_config('hnsw.iterative_scan', 'strict_order', true),
      set_config('enable_sort', 'off', true)`.execute(tx.query);
    const found = await sql<FoundRow>`
      with nearest as materialized (
        select chunk_id, ${distance(model, vector)} as distance from ${table} as near
        where corpus_id = ${corpusId} ${stored} order by ${distance(model, vector)} limit ${limit}
      ), usual as (
        select avg(cosine) as mean, stddev_samp(cosine) as deviation from (
          select -${distance(model, vector)} as cosine from ${table} where corpus_id = ${corpusId}
          limit ${BACKGROUND_SAMPLE}
        ) as sample
      )
      select chunk_id as "chunkId", -distance as cosine, mean, deviation from nearest, usual`.execute(
      tx.query,
    );
    return found.rows;
  });
  const near = rows
    .map(({ chunkId, cosine }) => ({ chunkId, cosine }))
    .toSorted((a, b) => b.cosine - a.cosine || a.chunkId - b.chunkId);
  return { near, background: { mean: rows[0]?.mean ?? 0, deviation: rows[0]?.deviation ?? 0, count } };
}
