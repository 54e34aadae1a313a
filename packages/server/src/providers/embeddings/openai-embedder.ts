/**
 * Embeddings of an OpenAI-compatible server: `POST {base}/embeddings` with `{ model, input, encoding_format }`, answered
 * by `{ data: [{ index, embedding }] }`.
 */

import { z } from "zod";
import { EngineFailure } from "../../ports/engine-failure.ts";
import {
  MAX_DIMENSIONS,
  NO_DIRECTION,
  unitVector,
  type EmbeddedText,
  type Embedder,
} from "../../ports/corpora/embedder.ts";
import { invalidAnswer, modelServer, requestModel, shortList, type ModelServer } from "./model-request.ts";

export interface OpenAiEmbedderOptions {
  /** With the version, for example `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  /** What the model expects before a document and before a question; empty: nothing. */
  readonly documentPrefix?: string;
  readonly queryPrefix?: string;
  /** Tests shorten them. */
  readonly timeoutsMs?: Readonly<Record<EmbeddedText, number>>;
  readonly fetch?: typeof fetch;
}

/** What all common servers take; more texts make the request slower, not the work faster. */
const MAX_TEXTS = 32;
/** About 2,000 tokens: most models read 512 to 8,192, and cut or refuse what is longer. Chunks are shorter. */
const MAX_TEXT_CHARS = 8_000;
/** A small model without a graphics card takes some seconds for 32 chunks; a caller waits for a query. */
const TIMEOUTS_MS = { document: 60_000, query: 3_000 };
/** A query that fails is answered from full text; a job goes on later. */
const ATTEMPTS = { document: 4, query: 1 };

const NAME = "embedding server";

const Numbers = z.custom<readonly number[]>(
  (value) => Array.isArray(value) && value.every((number) => typeof number === "number"),
);
const Answer = z.object({
  data: z.preprocess(shortList, z.array(z.object({ index: z.int().min(0).optional(), embedding: Numbers }))),
});

/** One line for the operator: model and address, never the key. */
export function describeEmbedder({
  baseUrl,
  model,
}: Pick<OpenAiEmbedderOptions, "baseUrl" | "model">): string {
  return `${model} at ${baseUrl}`;
}

/** The server is not contacted before the first request. @throws Error on wrong settings */
export function openOpenAiEmbedder(options: OpenAiEmbedderOptions): Embedder {
  const { model, documentPrefix = "", queryPrefix = "", timeoutsMs = TIMEOUTS_MS } = options;
  const server = modelServer(NAME, "/embeddings", options);
  if (model.trim() === "") throw new Error("the model of embeddings has no name");
  const prefixes = { document: documentPrefix, query: queryPrefix };
  return {
    model,
    basis: JSON.stringify([`${server.endpoint.origin}${server.endpoint.pathname}`, documentPrefix]),
    maxTexts: MAX_TEXTS,
    embed: async (texts, kind, signal, otherModel) => {
      const input = texts.map((text) => sentText(prefixes[kind], text));
      const body = { model: otherModel ?? model, input, encoding_format: "float" };
      const request = { body, timeoutMs: timeoutsMs[kind], attempts: ATTEMPTS[kind] };
      return readVectors(server, await requestModel(server, request, signal), texts.length);
    },
  };
}

/** Servers refuse empty texts. */
function sentText(prefix: string, text: string): string {
  const cut = text.slice(0, MAX_TEXT_CHARS).toWellFormed();
  return `${prefix}${cut.trim() === "" ? "." : cut}`;
}

function readVectors({ name }: ModelServer, answer: unknown, count: number): readonly Float32Array[] {
  const parsed = Answer.safeParse(answer);
  if (!parsed.success) throw invalidAnswer(name, "has no embeddings");
  const { data } = parsed.data;
  const vectors: (Float32Array | undefined)[] = Array.from({ length: count });
  for (const [place, { index = place, embedding }] of data.entries()) {
    const { length } = embedding;
    if (length === 0 || length > MAX_DIMENSIONS) {
      throw invalidAnswer(
        name,
        `has vectors of ${String(length)} dimensions; 1 to ${MAX_DIMENSIONS} are possible`,
      );
    }
    const vector = unitVector(embedding);
    if (vector === null) {
      throw new EngineFailure(`the answer of the ${name} has a vector without a direction`, {
        type: NO_DIRECTION,
      });
    }
    if (index < count) vectors[index] = vector;
  }
  const found = vectors.filter((vector) => vector !== undefined);
  const equal = found.every(({ length }) => length === found[0]?.length);
  if (found.length === count && data.length === count && equal) return found;
  throw new EngineFailure(
    equal
      ? `the ${name} gave ${String(data.length)} vectors for ${String(count)} texts`
      : `the ${name} gave vectors of different sizes`,
    { type: "invalid_answer" },
  );
}
