/** Loads corpora and asks them, through the interface of a service, until it is stopped. */

import { createHash } from "node:crypto";
import { seeded } from "../../src/media/testing/seeded.ts";
import { openLocalServer, type LocalServer } from "../../src/ports/testing/local-server.ts";
import { unitVector } from "../../src/ports/corpora/embedder.ts";
import type { Rest } from "../../demo/child-service.ts";
import { pause } from "../load.ts";

const DIMENSIONS = 384;
/** Documents of a corpus, and paragraphs of each; a paragraph is a chunk. */
const DOCUMENTS = 100;
const PARAGRAPHS = 12;
const WORDS = 160;
/** From one question to the next. Twenty callers who ask once in ten seconds. */
const QUERY_EVERY_MS = 500;
const READY_LIMIT_MS = 600_000;

/** Gives each text a vector of its own at once: a model on this machine would take its cores. */
export function openQuickEmbedder(): Promise<LocalServer> {
  return openLocalServer(({ body }, response) => {
    const { input } = JSON.parse(body) as { readonly input: readonly string[] };
    response.end(JSON.stringify({ data: input.map((text) => ({ embedding: vectorOf(text) })) }));
  });
}

function vectorOf(text: string): readonly number[] {
  const random = seeded(createHash("sha256").update(text).digest().readUInt32LE(0));
  const vector = unitVector(Array.from({ length: DIMENSIONS }, () => random() - 0.5));
  if (vector === null) throw new Error("a vector has no direction");
  return Array.from(vector, (number) => Number(number.toFixed(5)));
}

/** Words by Zipf's law, as in texts. */
function words(random: () => number, count: number): string {
  return Array.from({ length: count }, () => `w${String(Math.floor(20_000 ** random()))}`).join(" ");
}

interface Corpus {
  readonly url: string;
}

interface Stats {
  readonly status: string;
  readonly numChunks: number;
  readonly numVectors: number;
}

export interface CorpusLoad {
  /** Loads corpora, one after the other, and asks the first one, until `signal` is aborted. */
  run(signal: AbortSignal): Promise<CorpusLoadFigures>;
}

export interface CorpusLoadFigures {
  /** Chunks with their vectors that were stored meanwhile. */
  readonly chunks: number;
  readonly queryMs: readonly number[];
}

/** Resolves when the corpus that is asked is loaded. */
export async function openCorpusLoad(rest: Rest, baseUrl: string): Promise<CorpusLoad> {
  const random = seeded(7);
  const statsOf = async ({ url }: Corpus): Promise<Stats> => (await rest<{ stats: Stats }>("GET", url)).stats;

  async function begin(): Promise<Corpus> {
    const { corpusId } = await rest<{ corpusId: string }>("POST", "/api/corpora", { name: "bench" });
    const url = `/api/corpora/${corpusId}`;
    const documentIds: string[] = [];
    for (let document = 0; document < DOCUMENTS; document += 1) {
      const text = Array.from({ length: PARAGRAPHS }, () => words(random, WORDS)).join("\n\n");
      documentIds.push(await upload(url, text));
    }
    await rest("POST", `${url}/sources`, { upload: { documentIds } });
    return { url };
  }

  async function upload(url: string, text: string): Promise<string> {
    const made = await rest<{ documentId: string; presignedUrl: string }>("POST", `${url}/uploads`, {
      mimeType: "text/plain",
    });
    const answer = await fetch(`${baseUrl}${new URL(made.presignedUrl).pathname}`, {
      method: "PUT",
      headers: { "content-type": "text/plain" },
      body: text,
    });
    if (!answer.ok) throw new Error(`an upload was answered with ${String(answer.status)}`);
    return made.documentId;
  }

  async function loaded(corpus: Corpus, signal: AbortSignal): Promise<Stats> {
    const limitMs = performance.now() + READY_LIMIT_MS;
    for (;;) {
      const stats = await statsOf(corpus);
      const isDone = stats.status === "CORPUS_STATUS_READY" && stats.numVectors === stats.numChunks;
      if ((isDone && stats.numChunks > 0) || signal.aborted) return stats;
      if (performance.now() > limitMs) throw new Error(`the corpus is still ${JSON.stringify(stats)}`);
      await pause(500);
    }
  }

  const asked = await begin();
  await loaded(asked, new AbortController().signal);

  async function ask(signal: AbortSignal): Promise<number[]> {
    const queryMs: number[] = [];
    while (!signal.aborted) {
      const beganMs = performance.now();
      await rest("POST", `${asked.url}/query`, { query: words(random, 7) });
      queryMs.push(performance.now() - beganMs);
      await pause(QUERY_EVERY_MS - (performance.now() - beganMs));
    }
    return queryMs;
  }

  async function load(signal: AbortSignal): Promise<number> {
    let chunks = 0;
    while (!signal.aborted) {
      const corpus = await begin();
      await loaded(corpus, signal);
      chunks += (await statsOf(corpus)).numChunks;
      await rest("DELETE", corpus.url);
    }
    return chunks;
  }

  return {
    async run(signal) {
      const [chunks, queryMs] = await Promise.all([load(signal), ask(signal)]);
      return { chunks, queryMs };
    },
  };
}
