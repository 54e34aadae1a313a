/**
 * The offline language model. It is not a model: it follows the rules of `concierge.json`, and says so when asked. It
 * needs no network and no key. It ignores `temperature` (the same request always gets the same reply), calls a tool
 * when the caller says its name (`tool-choice.ts`), and knows only English (and says so when another language is
 * requested). From a system prompt it uses only the names of the agent and the caller.
 */

import type { LlmEngine, LlmPart, LlmRequest } from "../../ports/llm.ts";
import { reply } from "./reply.ts";
import { loadConcierge, type Rules } from "./rules.ts";
import { chooseTool, readOut } from "./tool-choice.ts";
import { throwIfAborted } from "../../pacing/abort.ts";

const MODEL = "scripted";

/** Rejects when the rules cannot be read. */
export async function openScriptedLlm(): Promise<LlmEngine> {
  const rules = await loadConcierge();
  let closed = false;
  return {
    name: "scripted",
    models: [MODEL],
    examplePhrases: rules.examples,
    generate: (request, signal) => generate(request, rules, signal, () => closed),
    close() {
      closed = true;
      return Promise.resolve();
    },
  };
}

/**
 * Yields word by word, without delay, each with the space before it. Reports no token counts, because there are no
 * tokens.
 */
async function* generate(
  request: LlmRequest,
  rules: Rules,
  signal: AbortSignal,
  isClosed: () => boolean,
): AsyncGenerator<LlmPart> {
  const check = (): void => {
    throwIfAborted(signal);
    if (isClosed()) throw new Error("the scripted model is closed");
  };
  check();
  if (request.model !== "default" && request.model !== MODEL)
    throw new Error(`the scripted model is not ${request.model}`);
  const call = chooseTool(request);
  if (call !== null) {
    yield { type: "tool-call", call };
    yield { type: "finish", reason: "tool-calls", inputTokens: null, outputTokens: null };
    return;
  }
  for (const word of (readOut(request.messages) ?? reply(request, rules)).match(/\s*\S+/g) ?? []) {
    yield { type: "text-delta", text: word };
    check();
  }
  yield { type: "finish", reason: "stop", inputTokens: null, outputTokens: null };
}
