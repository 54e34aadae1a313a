/** What a search in a corpus is asked for, and what it gives (D81). */

import type { FoundChunk } from "../store/corpora/search/found-chunks.ts";

export interface CorpusQuestion {
  readonly accountId: string;
  readonly corpusId: string;
  readonly question: string;
  /** 1 to 20. */
  readonly maxResults: number;
  /** Hits below it are left out. 0 to 1. */
  readonly minimumScore: number;
  /** The call that asks; null: a request asks. */
  readonly callId: string | null;
}

export interface CorpusHit extends FoundChunk {
  /** 0 to 1, never higher than that of the hit before it. */
  readonly score: number;
  /** Its place by full text and by its vector, from 1; null: not found in this way. */
  readonly textRank: number | null;
  readonly vectorRank: number | null;
  /** Its place before the reranker; null: there is none. */
  readonly fusedRank: number | null;
}

/** Why a way of searching was not used; null: it was, or is not set up. */
export interface SearchNotes {
  readonly vectors: string | null;
  readonly reranker: string | null;
}

export type CorpusAnswer =
  | { readonly kind: "found"; readonly hits: readonly CorpusHit[]; readonly notes: SearchNotes }
  | { readonly kind: "no_corpus" }
  /** Its first load is not done. */
  | { readonly kind: "initializing" }
  /** `reason` is a sentence. */
  | { readonly kind: "too_many"; readonly reason: string; readonly retryAfterMs: number };

/** @throws only where the database fails; an `AbortError` when `signal` aborts */
export type SearchCorpus = (question: CorpusQuestion, signal: AbortSignal) => Promise<CorpusAnswer>;
