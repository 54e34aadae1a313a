/** A corpus with very many chunks for benchmarks: texts and vectors that are drawn, the same in each run. */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { unitVector } from "../../src/ports/corpora/embedder.ts";
import { createCorpus } from "../../src/store/corpora/corpora.ts";
import { createNearIndex, type VectorModel } from "../../src/store/corpora/vectors/vector-models.ts";
import { addVectors } from "../../src/store/corpora/vectors/vectors.ts";
import type { Db } from "../../src/store/database/db.ts";

export const DIMENSIONS = 384;
/** Chunks about the same thing, so that near vectors exist. */
const TOPICS = 500;
/** Of a chunk. */
export const WORDS = 80;
/** The most that a document may have. */
const DOCUMENT_CHUNKS = 10_000;

let seed = 7;
function random(): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
}
const normal = (): number => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());

const centres = Array.from({ length: TOPICS }, () => Float64Array.from({ length: DIMENSIONS }, normal));

export function vectorOf(topic: number): Float32Array {
  const centre = centres[topic % TOPICS] ?? new Float64Array(DIMENSIONS);
  const vector = unitVector(centre.map((number) => number + 0.8 * normal()));
  if (vector === null) throw new Error("a vector has no direction");
  return vector;
}

/** Words by Zipf's law, as in texts: the first ones are in most chunks, the last ones in a few. */
export function words(count: number, topic: number): string {
  const drawn = Array.from({ length: count }, () => `w${String(Math.floor(20_000 ** random()))}`);
  return `${drawn.join(" ")} topic${String(topic % TOPICS)}`;
}

/** A corpus with all but the last chunks, whose words are indexed together: one by one takes longer. */
export async function fill(
  db: Db,
  accountId: string,
  chunks: number,
): Promise<{ corpusId: string; documentIds: readonly string[] }> {
  const { corpusId } = await createCorpus(db, accountId, { name: "bench", description: null });
  const sourceId = randomUUID();
  const now = new Date();
  await sql`insert into corpus_sources (id, corpus_id, account_id, kind, spec, created_at, load_requested_at, loaded_at,
    loaded_generation) values (${sourceId}, ${corpusId}, ${accountId}, 'upload', '{}', ${now}, ${now}, ${now}, 1)`.execute(
    db.query,
  );
  await sql`update corpora set ready_at = ${now} where id = ${corpusId}`.execute(db.query);
  await sql`drop index corpus_chunks_by_words`.execute(db.query);
  const documentIds: string[] = [];
  for (let first = 0; first < chunks; first += DOCUMENT_CHUNKS) {
    const documentId = randomUUID();
    const count = Math.min(DOCUMENT_CHUNKS, chunks - first);
    documentIds.push(documentId);
    await sql`insert into corpus_documents (id, corpus_id, account_id, source_id, mime_type, metadata, size_bytes,
      chunks_count, vectors_count, chunks_version, created_at, language, status, loaded_at)
      values (${documentId}, ${corpusId}, ${accountId}, ${sourceId}, 'text/plain', '{}', 1, ${count}, ${count}, 1, ${now},
        'en', 'ready', ${now})`.execute(db.query);
    for (let place = 0; place < count; place += 500) {
      const texts = Array.from({ length: Math.min(500, count - place) }, (_, at) =>
        words(WORDS, first + place + at),
      );
      await sql`insert into corpus_chunks (account_id, corpus_id, source_id, document_id, position, heading_path, text,
          tokens, language, content_hash, words)
        select ${accountId}, ${corpusId}, ${sourceId}, ${documentId}, ${place}::integer + at - 1, '[]', text,
          ${WORDS}::integer, 'en', '', to_tsvector('english', text)
        from unnest(${texts}::text[]) with ordinality as given (text, at)`.execute(db.query);
    }
  }
  await patiently(db, (tx) =>
    sql`create index corpus_chunks_by_words on corpus_chunks using gin (corpus_word_keys(corpus_id, words))
      with (fastupdate = off)`.execute(tx),
  );
  return { corpusId, documentIds };
}

/** All but the last are indexed together, which is faster than one by one. */
export async function addBulk(db: Db, model: VectorModel, corpusId: string): Promise<void> {
  const hasIndex = model.storage !== "bytes";
  if (hasIndex) await sql`drop index corpus_vectors_${sql.raw(String(model.id))}_near`.execute(db.query);
  const read = await sql<{ id: number }>`
    select chunk_id as id from corpus_chunks where corpus_id = ${corpusId} order by chunk_id`.execute(
    db.query,
  );
  const vectors = read.rows.map(({ id }, place) => ({ chunkId: id, vector: vectorOf(place) }));
  for (let first = 0; first < vectors.length; first += 500)
    await addVectors(db, model, corpusId, vectors.slice(first, first + 500));
  console.log(`${String(vectors.length)} vectors`);
  if (!hasIndex) return;
  await patiently(db, (tx) => createNearIndex({ ...db, query: tx }, model));
  console.log("their index");
}

/** In the memory that a whole index needs; otherwise it takes many times longer. */
async function patiently(db: Db, work: (tx: Db["query"]) => Promise<unknown>): Promise<void> {
  await db.query.transaction().execute(async (tx) => {
    await sql`select set_config('maintenance_work_mem', '512MB', true), set_config('statement_timeout', '0', true)`.execute(
      tx,
    );
    await work(tx);
  });
}
