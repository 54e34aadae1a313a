/**
 * A reranker with the request that Cohere, Jina, Voyage, vLLM, llama.cpp and Infinity share: `POST {base}/rerank` with
 * `{ model, query, documents }`, answered by `{ results: [{ index, relevance_score }] }`. Text Embeddings Inference
 * takes `texts` and answers with a list of `{ index, score }`; both forms are sent and read.
 */

import { z } from "zod";
import type { Reranker } from "../../ports/corpora/reranker.ts";
import { invalidAnswer, modelServer, requestModel, shortList } from "./model-request.ts";

export interface HttpRerankerOptions {
  /** With the version, where the server has one, for example `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

/** Twice the most results of a query that are asked for usually: more would take a caller's time. */
const MAX_TEXTS = 32;
const MAX_TEXT_CHARS = 4_000;
/** The caller waits; a reranker that takes longer is passed over. */
const TIMEOUT_MS = 2_000;
const NAME = "reranking server";

const Scores = z.preprocess(
  shortList,
  z.array(z.object({ index: z.int().min(0), relevance_score: z.number() })),
);
const Answer = z.union([
  z.object({ results: Scores }).transform(({ results }) => results),
  z
    .preprocess(shortList, z.array(z.object({ index: z.int().min(0), score: z.number() })))
    .transform((list) => list.map(({ index, score }) => ({ index, relevance_score: score }))),
]);

/** The server is not contacted before the first request. @throws Error on wrong settings */
export function openHttpReranker(options: HttpRerankerOptions): Reranker {
  const { model, timeoutMs = TIMEOUT_MS } = options;
  const server = modelServer(NAME, "/rerank", options);
  return {
    model,
    maxTexts: MAX_TEXTS,
    rerank: async (query, texts, signal) => {
      if (texts.length === 0) return [];
      const documents = texts.map((text) => text.slice(0, MAX_TEXT_CHARS).toWellFormed());
      const body = {
        model,
        query,
        documents,
        texts: documents,
        top_n: texts.length,
        return_documents: false,
      };
      const parsed = Answer.safeParse(await requestModel(server, { body, timeoutMs, attempts: 1 }, signal));
      if (!parsed.success) throw invalidAnswer(NAME, "has no scores");
      return inOrder(parsed.data, texts.length);
    },
  };
}

function inOrder(scores: z.output<typeof Scores>, count: number): readonly number[] {
  const found = new Map(scores.map(({ index, relevance_score: score }) => [index, score]));
  const ordered = Array.from({ length: count }, (_, index) => found.get(index));
  const numbers = ordered.filter((score) => score !== undefined);
  if (numbers.length !== count) throw invalidAnswer(NAME, "has no score for some passages");
  // Some servers give the logarithm of the odds.
  const areOdds = numbers.some((score) => score < 0 || score > 1);
  return areOdds ? numbers.map((score) => 1 / (1 + Math.exp(-score))) : numbers;
}
