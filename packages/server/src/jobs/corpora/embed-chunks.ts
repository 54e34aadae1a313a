/**
 * Gives the chunks of a corpus their vectors. What is missing is read from the database, so a job that was cut off goes
 * on where it stopped, and no chunk gets two vectors of one model.
 */

import { setImmediate } from "node:timers/promises";
import { throwIfAborted } from "../../pacing/abort.ts";
import { PortionSize } from "../../pacing/portion-size.ts";
import { NO_DIRECTION, type Embedder } from "../../ports/corpora/embedder.ts";
import type { EngineFailure } from "../../ports/engine-failure.ts";
import {
  claimIndex,
  corporaToIndex,
  forgetIndexed,
  nextToIndex,
  noteIndexed,
  noteIndexedThrough,
  releaseIndex,
  renewIndexClaim,
  type CorpusOfAccount,
  type DocumentToIndex,
} from "../../store/corpora/indexing.ts";
import { inTransaction, type Db } from "../../store/database/db.ts";
import {
  dropVectorModel,
  ensureVectorModel,
  listVectorModels,
  storageFor,
  type VectorModel,
  type VectorSupport,
} from "../../store/corpora/vectors/vector-models.ts";
import {
  addVectors,
  chunksToEmbed,
  countVectors,
  type ChunkToEmbed,
  type ChunkVector,
} from "../../store/corpora/vectors/vectors.ts";
import type { JobHandler } from "../definitions/job.ts";
import type { Jobs } from "../jobs.ts";
import { chunksChanged, indexCorpusJob } from "./index-corpus.ts";

export interface EmbedChunksDeps {
  readonly db: Db;
  readonly jobs: Pick<Jobs, "send" | "wake">;
  /** Null: corpora are searched by full text alone. */
  readonly embedder: Embedder | null;
  readonly support: VectorSupport;
  /** A chunk as the model reads it. */
  readonly textOf: (chunk: ChunkToEmbed) => string;
  readonly log: { readonly warn: (fields: object, message: string) => void };
  readonly nowMs: () => number;
}

/** Chunks that are read at a time. */
const READ_AT_ONCE = 256;
/**
 * Vectors of one statement. Each is some milliseconds of work for an index, and on the embedded database everything else
 * waits for the statement, live calls included.
 */
const portionSize = new PortionSize({ aimMs: 25, first: 4, most: 128 });
/** A longer job is queued anew, so that the corpora of an account take turns. */
const WORK_MS = 60_000;
/** Until the next attempt where another job indexes the corpus. */
const BUSY_WAIT_MS = 5_000;
/** Statuses with which servers refuse a text for what it is, and vectors of zeros. */
const REFUSED_TEXTS: ReadonlySet<string | null> = new Set(["400", "413", "422", NO_DIRECTION]);
/** What is tried of a text that the server refuses, such as one that is too long for the model. */
const SHORTENED_CHARS = 1_000;
/** Changes of the number of dimensions in one job: a model that was replaced under the same name is one. */
const MAX_CHANGES = 1;
/** After so many refused texts and none that was accepted, a usual text shows whether the texts are the reason. */
const REFUSED_ALL_FROM = 8;
const USUAL_TEXT = "The reception is open from eight to six.";

export function embedChunksHandler(deps: EmbedChunksDeps): JobHandler<CorpusOfAccount> {
  const { db, embedder, nowMs } = deps;
  return async ({ jobId, data, signal }) => {
    const claim = await claimIndex(db, data, jobId);
    if (claim === "gone") return;
    if (claim === "busy") return queueAgain(deps, data, nowMs() + BUSY_WAIT_MS);
    let isDone = true;
    try {
      if (embedder !== null) isDone = await indexCorpus({ ...deps, embedder }, { ...data, jobId }, signal);
    } finally {
      // Without the database the claim ends by itself.
      await releaseIndex(db, data.corpusId, jobId).catch(() => undefined);
    }
    if (!isDone) await queueAgain(deps, data);
  };
}

async function queueAgain(
  { db, jobs }: EmbedChunksDeps,
  corpus: CorpusOfAccount,
  startAfterMs?: number,
): Promise<void> {
  const later = startAfterMs === undefined ? {} : { startAfterMs };
  await inTransaction(db, (tx) => chunksChanged(tx, jobs, corpus, later));
  jobs.wake(indexCorpusJob);
}

interface CorpusOfJob extends CorpusOfAccount {
  readonly jobId: string;
}

type EmbeddingDeps = EmbedChunksDeps & { readonly embedder: Embedder };

/** False: the rest is for the next job. */
async function indexCorpus(deps: EmbeddingDeps, corpus: CorpusOfJob, signal: AbortSignal): Promise<boolean> {
  const { db, embedder, nowMs } = deps;
  const untilMs = nowMs() + WORK_MS;
  let model = await currentModel(db, embedder);
  let changes = 0;
  for (let afterId: string | null = null; ;) {
    const document = await nextToIndex(db, corpus.corpusId, model?.id ?? null, afterId);
    if (document === null) break;
    const indexed = await indexDocument(deps, corpus, document, { model, signal, untilMs });
    if (indexed.kind === "lost") return true;
    if (indexed.kind === "late") return false;
    const hasNewModel = model !== null && indexed.model?.id !== model.id;
    model = indexed.model;
    afterId = document.documentId;
    if (!hasNewModel) continue;
    // Another number of dimensions: what was done before has to be done again, in the other corpora as well.
    afterId = null;
    changes += 1;
    if (changes > MAX_CHANGES) throw new Error("the embedding server changes the number of dimensions");
    await queueMissingVectors(deps);
  }
  if (model !== null) await dropEarlier(db, model);
  return true;
}

/** `lost`: another job has the corpus. `late`: the time of the job is over. */
type Indexed =
  | { readonly kind: "done"; readonly model: VectorModel | null }
  | { readonly kind: "lost" }
  | { readonly kind: "late" };

interface Progress {
  readonly model: VectorModel | null;
  readonly signal: AbortSignal;
  readonly untilMs: number;
}

async function indexDocument(
  deps: EmbeddingDeps,
  { corpusId, jobId }: CorpusOfJob,
  document: DocumentToIndex,
  { model: known, signal, untilMs }: Progress,
): Promise<Indexed> {
  const { db, embedder, nowMs } = deps;
  const { documentId } = document;
  let model = known;
  for (let afterId = document.throughId; ;) {
    const chunks = await chunksToEmbed(db, documentId, model, { afterId, limit: READ_AT_ONCE });
    if (chunks.length === 0) break;
    for (let start = 0; start < chunks.length; start += embedder.maxTexts) {
      throwIfAborted(signal);
      const batch = chunks.slice(start, start + embedder.maxTexts);
      const written = await embedAndWrite(deps, corpusId, batch, { model, signal });
      const hasOtherDimensions = model !== null && written !== null && written.id !== model.id;
      model = written ?? model;
      if (!(await renewIndexClaim(db, corpusId, jobId))) return { kind: "lost" };
      if (hasOtherDimensions) return { kind: "done", model };
      // Chunks that the server refuses stay without a vector, and are not tried again with this model.
      afterId = batch.at(-1)?.chunkId ?? afterId;
      if (model !== null) await noteIndexedThrough(db, documentId, model.id, afterId);
      if (nowMs() >= untilMs) return { kind: "late" };
    }
  }
  if (model !== null) await noteIndexed(db, document, model.id, await countVectors(db, documentId, model));
  return { kind: "done", model };
}

async function currentModel(
  db: Db,
  { model, basis }: Pick<Embedder, "model" | "basis">,
): Promise<VectorModel | null> {
  const models = await listVectorModels(db);
  return models.find((one) => one.model === model && one.basis === basis) ?? null;
}

/** The model that the vectors were written for; null: the server has refused all of the texts. */
async function embedAndWrite(
  deps: EmbeddingDeps,
  corpusId: string,
  chunks: readonly ChunkToEmbed[],
  { model: known, signal }: Pick<Progress, "model" | "signal">,
): Promise<VectorModel | null> {
  const { db, embedder, support } = deps;
  const vectors = await embedBatch(deps, chunks, signal);
  const dimensions = vectors[0]?.vector.length;
  if (dimensions === undefined) return null;
  const model =
    known?.dimensions === dimensions
      ? known
      : await ensureVectorModel(db, embedder, dimensions, storageFor(support, dimensions));
  for (let written = 0; written < vectors.length;) {
    throwIfAborted(signal);
    const portion = vectors.slice(written, written + portionSize.rows);
    await portionSize.timed(portion.length, () => addVectors(db, model, corpusId, portion));
    written += portion.length;
    await setImmediate();
  }
  return model;
}

/** A server that refuses one text refuses its whole request: then each is sent alone. */
async function embedBatch(
  deps: EmbeddingDeps,
  chunks: readonly ChunkToEmbed[],
  signal: AbortSignal,
): Promise<readonly ChunkVector[]> {
  const { embedder, textOf, log } = deps;
  try {
    return paired(chunks, await embedder.embed(chunks.map(textOf), "document", signal));
  } catch (error) {
    if (!isRefusedText(error)) throw error;
  }
  const vectors: ChunkVector[] = [];
  for (const [place, chunk] of chunks.entries()) {
    const isDoubtful = place === REFUSED_ALL_FROM && vectors.length === 0;
    if (isDoubtful && (await embedOne(embedder, USUAL_TEXT, signal)) === null)
      throw new Error("the embedding server refuses every text; EMBEDDINGS_MODEL may name no model of it");
    const text = textOf(chunk);
    const vector =
      (await embedOne(embedder, text, signal)) ??
      (await embedOne(embedder, text.slice(0, SHORTENED_CHARS), signal));
    if (vector === null) log.warn({ chunkId: chunk.chunkId }, "the embedding server refuses a chunk");
    else vectors.push({ chunkId: chunk.chunkId, vector });
  }
  return vectors;
}

async function embedOne(embedder: Embedder, text: string, signal: AbortSignal): Promise<Float32Array | null> {
  try {
    return (await embedder.embed([text], "document", signal))[0] ?? null;
  } catch (error) {
    if (isRefusedText(error)) return null;
    throw error;
  }
}

function paired(chunks: readonly ChunkToEmbed[], vectors: readonly Float32Array[]): readonly ChunkVector[] {
  return chunks.flatMap(({ chunkId }, place) => {
    const vector = vectors[place];
    return vector === undefined ? [] : [{ chunkId, vector }];
  });
}

function isRefusedText(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== "EngineFailure") return false;
  return REFUSED_TEXTS.has((error as EngineFailure).type);
}

/** The vectors of an earlier model are deleted once no corpus needs them any more. */
async function dropEarlier(db: Db, current: VectorModel): Promise<void> {
  const earlier = (await listVectorModels(db)).filter(({ id }) => id < current.id);
  if (earlier.length === 0) return;
  const lacking = await corporaToIndex(db, current.id, { afterId: null, limit: 1, isClaimed: true });
  if (lacking.length > 0) return;
  for (const model of earlier) await dropVectorModel(db, model);
}

/** Corpora of one page while they are queued. */
const QUEUED_AT_ONCE = 500;

/**
 * At the start, where the model may have been changed or set up. The statistics say 0 where there is none.
 * @returns how many corpora get vectors
 */
export async function beginIndexing(
  deps: Pick<EmbedChunksDeps, "db" | "jobs" | "embedder">,
): Promise<number> {
  if (deps.embedder === null) {
    await forgetIndexed(deps.db);
    return 0;
  }
  return queueMissingVectors(deps);
}

/** Queues the corpora whose chunks lack vectors of the present model, and that no job has. Returns how many. */
export async function queueMissingVectors({
  db,
  jobs,
  embedder,
}: Pick<EmbedChunksDeps, "db" | "jobs" | "embedder">): Promise<number> {
  if (embedder === null) return 0;
  const model = await currentModel(db, embedder);
  let queued = 0;
  for (let afterId: string | null = null; ;) {
    const page = await corporaToIndex(db, model?.id ?? null, {
      afterId,
      limit: QUEUED_AT_ONCE,
      isClaimed: false,
    });
    for (const corpus of page)
      if (await inTransaction(db, (tx) => chunksChanged(tx, jobs, corpus))) queued += 1;
    afterId = page.at(-1)?.corpusId ?? null;
    if (page.length < QUEUED_AT_ONCE) break;
  }
  jobs.wake(indexCorpusJob, queued);
  return queued;
}
