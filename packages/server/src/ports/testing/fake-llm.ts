/**
 * Fake language model: fixed text at fixed delays, for tests and benchmarks. With no delays it answers within one turn
 * of the event loop.
 */

import type { LlmEngine, LlmPart, LlmRequest } from "../llm.ts";
import { waitMs } from "./wait.ts";
import { throwIfAborted } from "../../pacing/abort.ts";

export interface FakeLlmOptions {
  /** From the request to the first text. Default 0. */
  readonly firstTextDelayMs?: number;
  /** Between two words of the stream. Default 0. */
  readonly wordDelayMs?: number;
  /** The whole reply, or how to make it. Default: one sentence of eight words. */
  readonly reply?: string | ((request: LlmRequest) => string);
  /** Throws this after the first word, as a broken stream would. */
  readonly failure?: (request: LlmRequest) => Error | null;
  readonly models?: readonly string[];
}

const DEFAULT_REPLY = "This is what the fake model always says.";

/** Text is streamed word by word, each with the space before it. */
export function openFakeLlm(options: FakeLlmOptions = {}): LlmEngine {
  const closing = new AbortController();
  return {
    name: "fake",
    models: options.models ?? [],
    generate: (request, signal) => generate(options, request, AbortSignal.any([signal, closing.signal])),
    close: () => {
      closing.abort();
      return Promise.resolve();
    },
  };
}

async function* generate(
  options: FakeLlmOptions,
  request: LlmRequest,
  signal: AbortSignal,
): AsyncGenerator<LlmPart> {
  const { firstTextDelayMs = 0, wordDelayMs = 0, reply = DEFAULT_REPLY } = options;
  const text = typeof reply === "string" ? reply : reply(request);
  const failure = options.failure?.(request) ?? null;
  const words = text.match(/\s*\S+|\s+$/g) ?? [];
  throwIfAborted(signal);
  if (request.model !== "default" && !options.models?.includes(request.model))
    throw new Error(`the fake has no model ${request.model}`);
  await waitMs(firstTextDelayMs, signal);
  for (const [index, word] of words.entries()) {
    if (index > 0) await waitMs(wordDelayMs, signal);
    throwIfAborted(signal);
    yield { type: "text-delta", text: word };
    if (failure !== null) throw failure;
  }
  if (failure !== null) throw failure;
  throwIfAborted(signal);
  yield { type: "finish", reason: "stop", inputTokens: null, outputTokens: words.length };
}
