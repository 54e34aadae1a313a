/**
 * `npm run bench:corpus`: searches in a corpus of 100,000 chunks with vectors of 384 dimensions, on the embedded
 * database with its index and on PostgreSQL without pgvector by comparing all of them; how fast a document is stored and
 * indexed; and how long other statements wait meanwhile. BENCH_CHUNKS is the number of chunks. The page with the figures changes only with 100,000.
 */

import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { openCorpusSearch } from "../../src/corpora/search-corpus.ts";
import { embedChunksHandler } from "../../src/jobs/corpora/embed-chunks.ts";
import type { Embedder } from "../../src/ports/corpora/embedder.ts";
import { createAccount } from "../../src/store/accounts/accounts.ts";
import { createSource } from "../../src/store/corpora/corpus-sources.ts";
import { makePageDocument } from "../../src/store/corpora/crawl-pages.ts";
import { storeReading } from "../../src/store/corpora/documents.ts";
import { claimLoad, finishLoad, inLoad } from "../../src/store/corpora/loads.ts";
import {
  ensureVectorModel,
  storageFor,
  vectorTable,
  type VectorModel,
} from "../../src/store/corpora/vectors/vector-models.ts";
import type { ChunkVector } from "../../src/store/corpora/vectors/vectors.ts";
import { openVectorStore, type VectorStore } from "../../src/store/corpora/vectors/vector-store.ts";
import type { Db } from "../../src/store/database/db.ts";
import { addBulk, DIMENSIONS, fill, vectorOf, words, WORDS } from "./large-corpus.ts";
import { openPatientStore } from "./patient-store.ts";
import { milliseconds, percentile, publish } from "../report.ts";

const WHOLE = 100_000;
const CHUNKS = Number(process.env["BENCH_CHUNKS"] ?? WHOLE);
const QUERIES = Number(process.env["BENCH_QUERIES"] ?? 300);
/** Added as loads add them, to the full indexes, which is the slowest case. */
const ADDED = Math.min(2_000, Math.floor(CHUNKS / 10));
const BULK = CHUNKS - ADDED;
/** Searches whose results are compared with the exact ones. */
const COMPARED = 20;
const never = new AbortController().signal;

interface Figures extends Added {
  readonly name: string;
  readonly nearMs: readonly number[];
  readonly wholeMs: readonly number[];
  readonly firstMs: number;
  readonly recall: string;
  readonly memoryMb: number;
}

async function measure(kind: "embedded" | "postgresql"): Promise<Figures> {
  const store = await openPatientStore(kind);
  try {
    return await measureOn(store.db, kind);
  } finally {
    await store.close();
  }
}

async function measureOn(db: Db, kind: string): Promise<Figures> {
  const { accountId } = await createAccount(db, "bench");
  const { corpusId, documentIds } = await fill(db, accountId, BULK);
  console.log(`${kind}: ${String(BULK)} chunks`);
  const vectors = await openVectorStore(db, console.error);
  const storage = storageFor(vectors.support, DIMENSIONS);
  const model = await ensureVectorModel(db, { model: "bench", basis: "bench" }, DIMENSIONS, storage);
  await addBulk(db, model, corpusId);
  await sql`update corpus_documents set indexed_version = 1, indexed_model = ${model.id}
    where id = any(${[...documentIds]}::uuid[])`.execute(db.query);
  const corpus = { accountId, corpusId };
  const added = await addLast({ db, vectors, model }, corpus);
  console.log(
    `${kind}: ${added.chunksPerSecond.toFixed(0)} chunks/s, ${added.vectorsPerSecond.toFixed(0)} vectors/s, ` +
      `other statements wait ${milliseconds(percentile(added.waitsMs, 0.99))} ms`,
  );
  const all = await readVectors(db, model, corpusId);
  const asked = Array.from({ length: QUERIES }, (_, place) => vectorOf(place * 7));
  const near = (vector: Float32Array) => vectors.near(model, { corpusId, vector, limit: 50 }, never);
  const firstMs = await timed(() => near(vectorOf(3)));
  for (const vector of asked.slice(0, 10)) await near(vector);
  const nearMs: number[] = [];
  let agreed = 0;
  for (const [place, vector] of asked.entries()) {
    let foundIds: readonly number[] = [];
    nearMs.push(
      await timed(async () => {
        foundIds = (await near(vector)).near.slice(0, 10).map(({ chunkId }) => chunkId);
      }),
    );
    if (place < COMPARED) agreed += foundIds.filter((id) => nearest(all, vector).has(id)).length;
  }
  console.log(`${kind}: vectors ${milliseconds(percentile(nearMs, 0.5))} ms`);
  const memoryMb = Math.round(process.memoryUsage().rss / 2 ** 20);
  const wholeMs = await wholeSearches({ db, vectors, model, asked }, corpus);
  console.log(`${kind}: whole searches ${milliseconds(percentile(wholeMs, 0.5))} ms`);
  await vectors.close();
  const name =
    vectors.support.kind === "pgvector"
      ? `${kind}, index of pgvector ${vectors.support.version}`
      : `${kind}, all compared (${vectors.support.reason})`;
  const recall = (agreed / (COMPARED * 10)).toFixed(2);
  return { name, nearMs, wholeMs, firstMs, recall, memoryMb, ...added };
}

interface Added {
  readonly chunksPerSecond: number;
  readonly vectorsPerSecond: number;
  /** Of statements of another connection meanwhile. */
  readonly waitsMs: readonly number[];
}

/** The last document, as loads and their jobs store and index it. */
async function addLast(
  { db, vectors, model }: Pick<Searched, "db" | "vectors" | "model">,
  { accountId, corpusId }: { readonly accountId: string; readonly corpusId: string },
): Promise<Added> {
  const source = await createSource(db, accountId, corpusId, {
    name: null,
    description: null,
    kind: "crawl",
    spec: {},
    documentIds: [],
  });
  if (source === null) throw new Error("the corpus is gone");
  const load = await claimLoad(db, { accountId, sourceId: source.sourceId }, randomUUID());
  if (load === null) throw new Error("the source has no load");
  const url = "https://bench.example/";
  const documentId = await inLoad(db, load, (tx) => makePageDocument(tx, load, url, "text/plain"));
  const reading = {
    mimeType: "text/plain",
    sizeBytes: 1,
    contentHash: "",
    title: null,
    description: null,
    published: null,
    language: "en",
    exampleQueries: [],
    chunks: Array.from({ length: ADDED }, (_, place) => ({
      headingPath: [],
      page: null,
      text: words(WORDS, BULK + place),
      tokens: WORDS,
    })),
  };
  let next = BULK;
  const embedder: Embedder = {
    model: model.model,
    basis: model.basis,
    maxTexts: 32,
    embed: (texts) => Promise.resolve(texts.map(() => vectorOf(next++))),
  };
  const index = embedChunksHandler({
    db,
    jobs: { send: () => Promise.resolve(), wake: () => undefined },
    embedder,
    support: vectors.support,
    textOf: ({ text }) => text,
    log: console,
    nowMs: () => performance.now(),
  });
  const watched = new AbortController();
  const watching = watchWaits(db, watched.signal);
  const stored = await timed(() =>
    storeReading(db, load, { documentId, url }, reading, {
      finish: (tx) => finishLoad(tx, load),
      signal: never,
    }),
  );
  const indexed = await timed(() =>
    index({ jobId: randomUUID(), data: { accountId, corpusId }, signal: never }),
  );
  watched.abort();
  return {
    chunksPerSecond: (ADDED * 1_000) / stored,
    vectorsPerSecond: (ADDED * 1_000) / indexed,
    waitsMs: await watching,
  };
}

/** A small statement again and again, as live calls send them. */
async function watchWaits(db: Db, signal: AbortSignal): Promise<readonly number[]> {
  const waitsMs: number[] = [];
  while (!signal.aborted) {
    waitsMs.push(await timed(() => sql`select 1`.execute(db.query)));
    await setTimeout(5);
  }
  return waitsMs;
}

async function readVectors(db: Db, model: VectorModel, corpusId: string): Promise<readonly ChunkVector[]> {
  const all: ChunkVector[] = [];
  for (let afterId = 0; ;) {
    const read = await sql<{ chunkId: number; embedding: Buffer | string }>`
      select chunk_id as "chunkId", embedding${sql.raw(model.storage === "bytes" ? "" : "::text")} as embedding
      from ${vectorTable(model)} where corpus_id = ${corpusId} and chunk_id > ${afterId}
      order by chunk_id limit 1000`.execute(db.query);
    for (const { chunkId, embedding } of read.rows) {
      const vector =
        typeof embedding === "string"
          ? Float32Array.from(JSON.parse(embedding) as number[])
          : Float32Array.from({ length: DIMENSIONS }, (_, place) => embedding.readFloatLE(place * 4));
      all.push({ chunkId, vector });
    }
    const last = read.rows.at(-1);
    if (last === undefined) return all;
    afterId = last.chunkId;
  }
}

interface Searched {
  readonly db: Db;
  readonly vectors: VectorStore;
  readonly model: VectorModel;
  readonly asked: readonly Float32Array[];
}

/** Full text and vectors together. */
async function wholeSearches(
  { db, vectors, model, asked }: Searched,
  corpus: { readonly accountId: string; readonly corpusId: string },
): Promise<readonly number[]> {
  let next = 0;
  const embedder: Embedder = {
    model: "bench",
    basis: "bench",
    maxTexts: 1,
    embed: () => Promise.resolve([asked[next++ % asked.length] ?? vectorOf(0)]),
  };
  const search = openCorpusSearch({
    db,
    vectors,
    embedder,
    reranker: null,
    modelFor: () => Promise.resolve(model),
    queriesPerMinute: 0,
    log: console,
    nowMs: () => performance.now(),
  });
  const times: number[] = [];
  for (let place = 0; place < QUERIES; place += 1) {
    const question = { ...corpus, question: words(7, place), maxResults: 5 };
    times.push(await timed(() => search({ ...question, minimumScore: 0, callId: null }, never)));
  }
  return times;
}

function nearest(all: readonly ChunkVector[], asked: Float32Array): ReadonlySet<number> {
  const compared = all.map(({ chunkId, vector }) => {
    let cosine = 0;
    for (let place = 0; place < DIMENSIONS; place += 1) cosine += (vector[place] ?? 0) * (asked[place] ?? 0);
    return { chunkId, cosine };
  });
  return new Set(
    compared
      .toSorted((a, b) => b.cosine - a.cosine)
      .slice(0, 10)
      .map(({ chunkId }) => chunkId),
  );
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function row(figures: Figures): string {
  const { name, nearMs, wholeMs, firstMs, recall, memoryMb } = figures;
  const { chunksPerSecond, vectorsPerSecond, waitsMs } = figures;
  const both = (values: readonly number[]): string =>
    `${milliseconds(percentile(values, 0.5))} / ${milliseconds(percentile(values, 0.99))} ms`;
  const cells = [
    name,
    both(nearMs),
    both(wholeMs),
    `${milliseconds(firstMs)} ms`,
    recall,
    `${chunksPerSecond.toFixed(0)}/s`,
    `${vectorsPerSecond.toFixed(0)}/s`,
    both(waitsMs),
    `${String(memoryMb)} MB`,
  ];
  return `| ${cells.join(" | ")} |`;
}

const kinds = (process.env["BENCH_DATABASES"] ?? "embedded,postgresql").split(",");
const figures: Figures[] = [];
for (const kind of kinds) figures.push(await measure(kind === "postgresql" ? kind : "embedded"));
const table = `| Database | Vectors, p50 / p99 | Whole search, p50 / p99 | First search | Recall of the nearest 10 | Chunks stored | Vectors indexed | Another statement meanwhile, p50 / p99 | Memory of the process |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${figures.map(row).join("\n")}`;
if (CHUNKS === WHOLE)
  await publish(
    "corpus",
    `${String(CHUNKS)} chunks of ${String(DIMENSIONS)} dimensions in one corpus, ${String(QUERIES)} searches one after \
the other. A whole search is full text and vectors together. The model that makes the vectors is not part of the \
figures. The last ${String(ADDED)} chunks are stored and indexed as loads do it. The memory includes \
${String(Math.round((CHUNKS * DIMENSIONS * 4) / 2 ** 20))} MB of vectors that the benchmark itself holds.\n\n${table}`,
  );
else console.log(table);
