/** An embedder of words: texts that share words have near vectors. It passes the conformance suite of the port. */

import { createHash } from "node:crypto";
import { EngineFailure } from "../../engine-failure.ts";
import { unitVector, type EmbeddedText, type Embedder } from "../embedder.ts";

export interface FakeEmbedderOptions {
  readonly model?: string;
  readonly basis?: string;
  readonly dimensions?: number;
  readonly maxTexts?: number;
  /** Words that mean the same, each list one meaning. */
  readonly synonyms?: readonly (readonly string[])[];
  /** Why the next request fails; null: it does not. */
  readonly failure?: () => Error | null;
}

export interface FakeEmbedder extends Embedder {
  /** The texts of each request so far. */
  readonly requests: readonly { readonly kind: EmbeddedText; readonly texts: readonly string[] }[];
}

export function openFakeEmbedder(options: FakeEmbedderOptions = {}): FakeEmbedder {
  const { model = "words", basis = "fake", dimensions = 64, maxTexts = 16, failure = () => null } = options;
  const meanings = new Map(
    (options.synonyms ?? []).flatMap((words) => words.map((word) => [word, words[0] ?? word])),
  );
  const requests: { kind: EmbeddedText; texts: readonly string[] }[] = [];
  const vectorOf = (text: string): Float32Array => {
    const sums = new Float64Array(dimensions);
    // A text without words has a direction as well.
    sums[0] = 1e-3;
    for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
      const digest = createHash("sha256")
        .update(meanings.get(word) ?? word)
        .digest();
      for (let part = 0; part < 4; part += 1) {
        const place = digest.readUInt16LE(part * 3) % dimensions;
        sums[place] = (sums[place] ?? 0) + ((digest[part * 3 + 2] ?? 0) % 2 === 0 ? 1 : -1);
      }
    }
    const vector = unitVector(sums);
    if (vector === null) throw new Error("the sum of the words has no direction");
    return vector;
  };
  return {
    model,
    basis,
    maxTexts,
    requests,
    embed: async (texts, kind, signal) => {
      await Promise.resolve();
      if (signal.aborted) throw new DOMException("aborted", "AbortError");
      if (texts.length > maxTexts) throw new EngineFailure("too many texts for one request");
      requests.push({ kind, texts });
      const error = failure();
      if (error !== null) throw error;
      return texts.map(vectorOf);
    },
  };
}
