/** Conformance suite for rerankers; each test file registers it with its own. */

import { describe, expect, it } from "vitest";
import { EngineFailure } from "../../engine-failure.ts";
import type { Reranker } from "../reranker.ts";

export interface RerankerSubject {
  /** Called for each test. */
  readonly open: () => Reranker | Promise<Reranker>;
  /** The same, where the server fails each request. */
  readonly openFailing: () => Reranker | Promise<Reranker>;
  /** No error contains it. */
  readonly secrets: readonly string[];
}

const never = new AbortController().signal;

export function describeRerankerConformance(name: string, subject: RerankerSubject): void {
  describe(`${name} as a reranker`, () => {
    it("gives a score from 0 to 1 for each passage, in their order", async () => {
      const reranker = await subject.open();
      const passages = ["the pool opens in summer", "breakfast is served at seven", "parking is free"];
      const scores = await reranker.rerank("when is breakfast served", passages, never);
      expect(scores).toHaveLength(3);
      for (const score of scores) {
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
      }
      expect(Math.max(...scores)).toBe(scores[1]);
    });

    it("fails with a sentence without texts and keys", async () => {
      const reranker = await subject.openFailing();
      const failure: unknown = await reranker
        .rerank("a-secret-question", ["a-secret-passage"], never)
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(EngineFailure);
      for (const secret of [...subject.secrets, "a-secret-question", "a-secret-passage"])
        expect(String(failure)).not.toContain(secret);
    });

    it("is aborted by its signal", async () => {
      const reranker = await subject.open();
      const aborted = reranker.rerank("question", ["passage"], AbortSignal.abort());
      await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    });
  });
}
