/**
 * A server of embeddings that takes its time, so that a kill meets vectors that are being made. The vector of a text
 * depends on its every character: the vector of another chunk is noticed.
 */

import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { unitVector } from "../../src/ports/corpora/embedder.ts";
import { openLocalServer } from "../../src/ports/testing/local-server.ts";

/** Of one request of up to 32 texts: 1,200 chunks take some 12 s. */
const ANSWER_MS = 300;

export interface SlowEmbedder {
  readonly env: Readonly<Record<string, string>>;
  /** Requests that wait for their answer. */
  readonly pending: () => number;
  close(): Promise<void>;
}

export async function openSlowEmbedder(): Promise<SlowEmbedder> {
  let pending = 0;
  const server = await openLocalServer(async ({ body }, response) => {
    const { input } = JSON.parse(body) as { readonly input: readonly string[] };
    pending += 1;
    try {
      await wait(ANSWER_MS);
    } finally {
      pending -= 1;
    }
    response.end(JSON.stringify({ data: input.map((text) => ({ embedding: [...vectorOf(text)] })) }));
  });
  return {
    env: { EMBEDDINGS_BASE_URL: server.baseUrl, EMBEDDINGS_MODEL: "slow" },
    pending: () => pending,
    close: () => server.close(),
  };
}

/** 32 dimensions, of length 1. */
export function vectorOf(text: string): Float32Array {
  const digest = createHash("sha256").update(text).digest();
  const vector = unitVector(Array.from(digest, (byte) => byte - 127.5));
  if (vector === null) throw new Error("a digest has no direction");
  return vector;
}
