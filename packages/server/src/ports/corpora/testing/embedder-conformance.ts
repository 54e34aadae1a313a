/** Conformance suite for embedders; each test file registers it with its own. */

import { describe, expect, it } from "vitest";
import { EngineFailure } from "../../engine-failure.ts";
import { MAX_DIMENSIONS, type Embedder } from "../embedder.ts";

export interface EmbedderSubject {
  /** Called for each test. */
  readonly open: () => Embedder | Promise<Embedder>;
  /** The same, where the server fails each request. */
  readonly openFailing: () => Embedder | Promise<Embedder>;
  /** No error contains it. */
  readonly secrets: readonly string[];
}

const never = new AbortController().signal;

function dot(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (a === undefined || b === undefined || a.length !== b.length) throw new Error("no two equal vectors");
  return a.reduce((sum, number, place) => sum + number * (b[place] ?? 0), 0);
}

export function describeEmbedderConformance(name: string, subject: EmbedderSubject): void {
  describe(`${name} as an embedder`, () => {
    it("gives a vector of length 1 for each text, in their order", async () => {
      const embedder = await subject.open();
      const texts = ["breakfast is served at seven", "the pool opens in summer", "🏊 日本語"];
      const vectors = await embedder.embed(texts, "document", never);
      expect(vectors).toHaveLength(texts.length);
      for (const vector of vectors) {
        expect(vector).toBeInstanceOf(Float32Array);
        expect(vector.length).toBe(vectors[0]?.length);
        expect(vector.length).toBeLessThanOrEqual(MAX_DIMENSIONS);
        expect(dot(vector, vector)).toBeCloseTo(1, 4);
      }
      const again = await embedder.embed(texts.toReversed(), "document", never);
      expect(dot(vectors[0], again[2])).toBeCloseTo(1, 4);
    });

    it("gives nearer vectors for nearer texts", async () => {
      const embedder = await subject.open();
      const [query] = await embedder.embed(["when is breakfast served"], "query", never);
      const [near, far] = await embedder.embed(
        ["breakfast is served at seven", "the pool opens in summer"],
        "document",
        never,
      );
      expect(dot(query, near)).toBeGreaterThan(dot(query, far));
    });

    it("takes as many texts as it says, empty and very long ones among them", async () => {
      const embedder = await subject.open();
      const texts = Array.from({ length: embedder.maxTexts }, (_, index) => `text ${String(index)}`);
      texts[0] = "word ".repeat(20_000);
      texts[1] = "";
      expect(await embedder.embed(texts, "document", never)).toHaveLength(texts.length);
    });

    it("fails with a sentence without texts and keys", async () => {
      const embedder = await subject.openFailing();
      const failure: unknown = await embedder
        .embed(["a-secret-text"], "query", never)
        .catch((e: unknown) => e);
      expect(failure).toBeInstanceOf(EngineFailure);
      for (const secret of [...subject.secrets, "a-secret-text"])
        expect(String(failure)).not.toContain(secret);
    });

    it("is aborted by its signal", async () => {
      const embedder = await subject.open();
      const aborted = embedder.embed(["text"], "query", AbortSignal.abort());
      await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    });
  });
}
