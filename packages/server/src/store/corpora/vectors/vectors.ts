/** Vectors of chunks: those that are missing, and their writing. */

import { sql, type RawBuilder } from "kysely";
import { inTransaction, type Db } from "../../database/db.ts";
import { vectorTable, type VectorModel, type VectorStorage } from "./vector-models.ts";

/** A chunk that has no vector of a model yet. */
export interface ChunkToEmbed {
  readonly chunkId: number;
  /** The headings above it, outermost first. */
  readonly headingPath: readonly string[];
  readonly text: string;
}

/** Of one document, in the order of their ids, after `afterId`. `model` null: no chunk has a vector yet. */
export async function chunksToEmbed(
  db: Db,
  documentId: string,
  model: VectorModel | null,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<readonly ChunkToEmbed[]> {
  const missing =
    model === null
      ? sql`true`
      : sql`not exists (select 1 from ${vectorTable(model)} as vector where vector.chunk_id = chunk.chunk_id)`;
  const read = await sql<ChunkToEmbed>`
    select chunk.chunk_id as "chunkId", chunk.heading_path as "headingPath", chunk.text
    from corpus_chunks as chunk
    where chunk.document_id = ${documentId} and chunk.chunk_id > ${afterId} and ${missing}
    order by chunk.chunk_id limit ${limit}`.execute(db.query);
  return read.rows;
}

export interface ChunkVector {
  readonly chunkId: number;
  /** Of length 1. */
  readonly vector: Float32Array;
}

/**
 * Writes vectors of chunks that still exist and have none; others are left out.
 * @returns how many were written
 */
export async function addVectors(
  db: Db,
  model: VectorModel,
  corpusId: string,
  vectors: readonly ChunkVector[],
): Promise<number> {
  if (vectors.length === 0) return 0;
  const rows = vectors.map(
    ({ chunkId, vector }) => sql`(${chunkId}::bigint, ${vectorValue(model.storage, vector)})`,
  );
  return inTransaction(db, async (tx) => {
    // Locked, so that no reload deletes a chunk between the look and the insert.
    const written = await sql`
      insert into ${vectorTable(model)} (chunk_id, corpus_id, embedding)
      select given.chunk_id, chunk.corpus_id, given.embedding
      from (values ${sql.join(rows)}) as given (chunk_id, embedding)
      join corpus_chunks as chunk on chunk.chunk_id = given.chunk_id and chunk.corpus_id = ${corpusId}
      order by given.chunk_id
      for key share of chunk
      on conflict (chunk_id) do nothing`.execute(tx.query);
    return Number(written.numAffectedRows ?? 0n);
  });
}

/**
 * A vector as a parameter of a statement. In the binary formats: as text one of 384 dimensions has 8 KB, and its reading
 * takes longer than a comparison.
 */
export function vectorValue(storage: VectorStorage, vector: Float32Array): RawBuilder<unknown> {
  if (storage === "bytes") return sql`${littleEndian(vector)}::bytea`;
  if (storage === "vector") return sql`${binaryVector(vector)}::vector`;
  return sql`${`[${vector.join(",")}]`}::halfvec`;
}

function littleEndian(vector: Float32Array): Buffer {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (const [place, number] of vector.entries()) bytes.writeFloatLE(number, place * 4);
  return bytes;
}

/** As `vector_recv` of pgvector reads it: dimensions, a zero, and the numbers, all big-endian. */
function binaryVector(vector: Float32Array): Buffer {
  const bytes = Buffer.allocUnsafe(4 + vector.length * 4);
  bytes.writeInt16BE(vector.length, 0);
  bytes.writeInt16BE(0, 2);
  for (const [place, number] of vector.entries()) bytes.writeFloatBE(number, 4 + place * 4);
  return bytes;
}

/** Vectors that the chunks of a document have. */
export async function countVectors(db: Db, documentId: string, model: VectorModel): Promise<number> {
  const read = await sql<{ vectors: number }>`
    select count(*) as vectors from corpus_chunks as chunk
    join ${vectorTable(model)} as vector on vector.chunk_id = chunk.chunk_id
    where chunk.document_id = ${documentId}`.execute(db.query);
  return read.rows[0]?.vectors ?? 0;
}
