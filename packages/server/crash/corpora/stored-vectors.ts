/** Reads the database after the service has ended: every chunk has one vector, and it is that of its text. */

import { sql } from "kysely";
import { textOf } from "../../src/corpora/search-corpus.ts";
import { listVectorModels, vectorTable } from "../../src/store/corpora/vectors/vector-models.ts";
import { openVectorStore, type VectorStore } from "../../src/store/corpora/vectors/vector-store.ts";
import type { Db } from "../../src/store/database/db.ts";
import type { StoreOptions } from "../../src/store/opening/open-database.ts";
import { openStore } from "../../src/store/opening/open-store.ts";
import { vectorOf } from "./slow-embedder.ts";

const never = new AbortController().signal;
const quiet = { info: () => undefined, warn: console.error, error: console.error };

/** Returns the faults. */
export async function faultsOfVectors(
  options: Pick<StoreOptions, "dataDir" | "databaseUrl" | "secretsKey">,
  corpusId: string,
): Promise<string[]> {
  const store = await openStore({ ...options, log: quiet });
  try {
    const vectors = await openVectorStore(store.db, console.error);
    try {
      return await faultsIn(store.db, vectors, corpusId);
    } finally {
      await vectors.close();
    }
  } finally {
    await store.close();
  }
}

interface Stored {
  readonly chunkId: number;
  readonly headingPath: readonly string[];
  readonly text: string;
}

async function faultsIn(db: Db, vectors: VectorStore, corpusId: string): Promise<string[]> {
  const models = await listVectorModels(db);
  const [model] = models;
  if (model === undefined || models.length > 1)
    return [`there are ${String(models.length)} models of vectors instead of one`];
  const chunks = await sql<Stored>`
    select chunk_id as "chunkId", heading_path as "headingPath", text from corpus_chunks
    where corpus_id = ${corpusId} order by chunk_id`.execute(db.query);
  const counted = await sql<{ count: number }>`
    select count(*) as count from ${vectorTable(model)}`.execute(db.query);
  const stored = counted.rows[0]?.count ?? 0;
  const faults =
    stored === chunks.rows.length
      ? []
      : [`${String(stored)} vectors of ${String(chunks.rows.length)} chunks are stored`];
  for (const chunk of chunks.rows) {
    const vector = vectorOf(textOf(chunk));
    const { near } = await vectors.near(model, { corpusId, vector, limit: 1 }, never);
    const [nearest] = near;
    if (nearest?.chunkId !== chunk.chunkId || nearest.cosine < 0.9999)
      faults.push(`chunk ${String(chunk.chunkId)} does not have the vector of its text`);
  }
  return faults;
}
