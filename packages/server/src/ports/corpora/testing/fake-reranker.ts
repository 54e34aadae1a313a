/** A reranker that counts the words of the question in each passage. It passes the conformance suite of the port. */

import { EngineFailure } from "../../engine-failure.ts";
import type { Reranker } from "../reranker.ts";

export interface FakeRerankerOptions {
  /** Why the next request fails; null: it does not. */
  readonly failure?: () => Error | null;
}

export function openFakeReranker({ failure = () => null }: FakeRerankerOptions = {}): Reranker {
  const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return {
    model: "words",
    maxTexts: 32,
    rerank: async (query, texts, signal) => {
      await Promise.resolve();
      if (signal.aborted) throw new DOMException("aborted", "AbortError");
      if (texts.length > 32) throw new EngineFailure("too many passages for one request");
      const error = failure();
      if (error !== null) throw error;
      const asked = new Set(wordsOf(query));
      return texts.map((text) => {
        const found = new Set(wordsOf(text).filter((word) => asked.has(word)));
        return asked.size === 0 ? 0 : found.size / asked.size;
      });
    },
  };
}
