/** Corpora without vectors. */

import type { EmbedChunksDeps } from "../corpora/embed-chunks.ts";

export const NO_EMBEDDING: Omit<EmbedChunksDeps, "db" | "jobs"> = {
  embedder: null,
  support: { kind: "scan", reason: "tests need no index" },
  textOf: ({ text }) => text,
  log: { warn: () => undefined },
  nowMs: Date.now,
};
