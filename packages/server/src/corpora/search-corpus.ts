/** Searches a corpus: full text and vectors side by side, fused, ranked again where there is a reranker, and scored. */

import type { Embedder } from "../ports/corpora/embedder.ts";
import type { Reranker } from "../ports/corpora/reranker.ts";
import { BusyError } from "../pacing/busy.ts";
import { messageOf } from "../pacing/error-text.ts";
import { getCorpus } from "../store/corpora/corpora.ts";
import { readFoundChunks, type FoundChunk } from "../store/corpora/search/found-chunks.ts";
import { noteOpenQuestion } from "../store/corpora/search/open-questions.ts";
import { readSize, type CorpusSize } from "../store/corpora/search/corpus-size.ts";
import { searchText, type TextHit } from "../store/corpora/search/text-search.ts";
import type { NearChunks } from "../store/corpora/vectors/near-vectors.ts";
import type { VectorStore } from "../store/corpora/vectors/vector-store.ts";
import type { VectorModel } from "../store/corpora/vectors/vector-models.ts";
import type { Db } from "../store/database/db.ts";
import { fallingScores, fuse, type Fused } from "./fusion.ts";
import { openQueryLimits, type QueryLimits } from "./query-limits.ts";
import { FAR, nearnessOf, relevanceOf } from "./relevance.ts";
import type { CorpusAnswer, CorpusHit, CorpusQuestion, SearchCorpus, SearchNotes } from "./search-types.ts";

export interface CorpusSearchDeps {
  readonly db: Db;
  readonly vectors: Pick<VectorStore, "near">;
  /** Null: full text alone. */
  readonly embedder: Embedder | null;
  /** Null: the fused order stays. */
  readonly reranker: Reranker | null;
  /** The vectors of a corpus that a question is compared with; null: there are none. */
  readonly modelFor: (corpusId: string) => Promise<VectorModel | null>;
  /** The embedder gives another number of dimensions than the vectors of its model have. */
  readonly dimensionsChanged?: (dimensions: number) => Promise<void>;
  /** Of each account; 0: no limit. */
  readonly queriesPerMinute: number;
  readonly log: { readonly warn: (fields: object, message: string) => void };
  readonly nowMs: () => number;
}

/** Chunks that each way of searching gives. With twice as many the fused order of the first ten hardly changes. */
const CANDIDATES = 50;
/** Below this score the best result does not count as an answer where the question names no score. */
export const ANSWERED_FROM = 0.25;

interface Scored {
  readonly fused: Fused;
  readonly relevance: number;
}

export function openCorpusSearch(deps: CorpusSearchDeps): SearchCorpus {
  const { db, queriesPerMinute, nowMs } = deps;
  const limits = openQueryLimits(queriesPerMinute, nowMs);
  return async (question, signal) => {
    const { accountId, corpusId } = question;
    const corpus = await getCorpus(db, accountId, corpusId);
    if (corpus === null) return { kind: "no_corpus" };
    if (corpus.status === "CORPUS_STATUS_INITIALIZING") return { kind: "initializing" };
    if (corpus.status === "CORPUS_STATUS_EMPTY") return found([], QUIET);
    try {
      return await limits.run(accountId, () => search({ ...deps, limits }, question, signal));
    } catch (error) {
      if (!(error instanceof BusyError)) throw error;
      return { kind: "too_many", reason: error.message, retryAfterMs: error.retryAfterMs };
    }
  };
}

const QUIET: SearchNotes = { vectors: null, reranker: null };

function found(hits: readonly CorpusHit[], notes: SearchNotes): CorpusAnswer {
  return { kind: "found", hits, notes };
}

interface SearchDeps extends CorpusSearchDeps {
  readonly limits: QueryLimits;
}

async function search(
  deps: SearchDeps,
  question: CorpusQuestion,
  signal: AbortSignal,
): Promise<CorpusAnswer> {
  const { db, limits } = deps;
  const { accountId, corpusId, maxResults, minimumScore } = question;
  const size = limits.inDatabase(accountId, () => readSize(db, corpusId));
  const [byText, byVector] = await Promise.all([
    size.then((known) =>
      limits.inDatabase(accountId, () => searchText(db, corpusId, question.question, CANDIDATES, known)),
    ),
    nearVectors(deps, question, size, signal),
  ]);
  signal.throwIfAborted();
  const scored = score(byText, byVector.found);
  const shown = deps.reranker === null ? maxResults : Math.max(maxResults, deps.reranker.maxTexts);
  const kept = scored.slice(0, shown);
  const ids = kept.map(({ fused }) => fused.chunkId);
  const chunks = await limits.inDatabase(accountId, () => readFoundChunks(db, accountId, corpusId, ids));
  const ranked = await rank(deps, question.question, withChunks(kept, chunks), signal);
  const hits = ranked.hits.filter((hit) => hit.score >= minimumScore).slice(0, maxResults);
  await noteQuestion(deps, question, ranked.hits[0]?.score ?? 0);
  return found(hits, { vectors: byVector.note, reranker: ranked.note });
}

interface ByVector {
  /** Null: there are no vectors to compare with. */
  readonly found: NearChunks | null;
  readonly note: string | null;
}

/** A model that does not answer leaves full text. */
async function nearVectors(
  { embedder, vectors, modelFor, dimensionsChanged, log, limits }: SearchDeps,
  { accountId, corpusId, question }: CorpusQuestion,
  size: Promise<CorpusSize>,
  signal: AbortSignal,
): Promise<ByVector> {
  if (embedder === null) return { found: null, note: null };
  try {
    const model = await modelFor(corpusId);
    if (model === null) return { found: null, note: "the corpus has no vectors yet" };
    const [vector] = await embedder.embed([question], "query", signal, model.model);
    if (vector?.length !== model.dimensions) {
      if (vector !== undefined && model.model === embedder.model) await dimensionsChanged?.(vector.length);
      throw new Error(`the model gave ${String(vector?.length ?? 0)} dimensions, not ${model.dimensions}`);
    }
    const near = { corpusId, vector, limit: CANDIDATES, size: await size };
    const compare = () => vectors.near(model, near, signal);
    // The thread that compares all vectors may have to load them first, which has a limit of its own.
    const found = await (model.storage === "bytes" ? compare() : limits.inDatabase(accountId, compare));
    return { found, note: null };
  } catch (error) {
    signal.throwIfAborted();
    const reason = messageOf(error);
    log.warn({ corpusId, reason }, "a corpus was searched by full text alone");
    return { found: null, note: reason };
  }
}

function score(byText: readonly TextHit[], byVector: NearChunks | null): readonly Scored[] {
  const near = byVector?.near ?? [];
  const coverages = new Map(byText.map(({ chunkId, coverage }) => [chunkId, coverage]));
  const cosines = new Map(near.map(({ chunkId, cosine }) => [chunkId, cosine]));
  const fused = fuse(
    byText.map(({ chunkId }) => chunkId),
    near.map(({ chunkId }) => chunkId),
  );
  const relevances = fused.map(({ chunkId }, place) => {
    const cosine = cosines.get(chunkId);
    const nearness =
      cosine === undefined || byVector === null ? FAR : nearnessOf(cosine, byVector.background);
    return relevanceOf({
      coverage: coverages.get(chunkId) ?? null,
      nearness: near.length === 0 ? null : nearness,
      rank: place + 1,
    });
  });
  const falling = fallingScores(relevances);
  return fused.map((one, place) => ({ fused: one, relevance: falling[place] ?? 0 }));
}

function withChunks(scored: readonly Scored[], chunks: readonly FoundChunk[]): readonly CorpusHit[] {
  const byId = new Map(chunks.map((chunk) => [chunk.chunkId, chunk]));
  return scored.flatMap(({ fused: { chunkId, textRank, vectorRank }, relevance }) => {
    const chunk = byId.get(chunkId);
    return chunk === undefined ? [] : [{ ...chunk, score: relevance, textRank, vectorRank, fusedRank: null }];
  });
}

/** A reranker that does not answer leaves the fused order. */
async function rank(
  { reranker, log }: CorpusSearchDeps,
  question: string,
  hits: readonly CorpusHit[],
  signal: AbortSignal,
): Promise<{ readonly hits: readonly CorpusHit[]; readonly note: string | null }> {
  if (reranker === null || hits.length === 0) return { hits, note: null };
  const asked = hits.slice(0, reranker.maxTexts);
  try {
    const scores = await reranker.rerank(question, asked.map(textOf), signal);
    const ranked = asked.map((hit, place) => ({ ...hit, score: scores[place] ?? 0, fusedRank: place + 1 }));
    return { hits: ranked.toSorted((a, b) => b.score - a.score), note: null };
  } catch (error) {
    signal.throwIfAborted();
    const reason = messageOf(error);
    log.warn({ reason }, "the reranker did not answer");
    return { hits, note: reason };
  }
}

/** A chunk as models read it: its headings say what it is about. */
export function textOf({ headingPath, text }: Pick<FoundChunk, "headingPath" | "text">): string {
  return headingPath.length === 0 ? text : `${headingPath.join(" > ")}\n${text}`;
}

async function noteQuestion(
  { db, log }: CorpusSearchDeps,
  { accountId, corpusId, question, minimumScore, callId }: CorpusQuestion,
  bestScore: number,
): Promise<void> {
  if (bestScore >= (minimumScore > 0 ? minimumScore : ANSWERED_FROM)) return;
  try {
    await noteOpenQuestion(db, { accountId, corpusId, question, bestScore, callId });
  } catch (error) {
    // The list is a help for the operator: a question that cannot be added to it is answered all the same.
    log.warn({ corpusId, reason: messageOf(error) }, "an unanswered question was not stored");
  }
}
