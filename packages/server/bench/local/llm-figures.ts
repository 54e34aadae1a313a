/** The language model of this machine: what its process adds to a reply. */

import type { LlmEngine, LlmRequest } from "../../src/ports/llm.ts";
import { openLocalLlm } from "../../src/providers/llm-local/llm-local.ts";
import type { LlmLoadOrder } from "../../src/providers/llm-local/llm-protocol.ts";
import { crash, memoryMb, started, type Crash } from "./child-figures.ts";

export interface LlmFigures {
  readonly name: string;
  readonly startMs: number;
  readonly memoryMb: number | null;
  /** From the request to its first word, where the prompt is that of the turn before and a new message. */
  readonly nextTurnMs: readonly number[];
  /** The same for a prompt of which nothing was computed before. */
  readonly newPromptMs: readonly number[];
  readonly newPromptTokens: number;
  readonly crash: Crash;
}

const ROUNDS = 100;
const NEW_PROMPTS = 20;
const SYSTEM_PROMPT = "You are Ada, who answers the telephone of a small hotel by the sea. ".repeat(20);

export async function llmFigures(order: LlmLoadOrder, program?: URL): Promise<LlmFigures> {
  const own = await started((startChild) =>
    openLocalLlm({
      order,
      names: [order.model.name],
      startChild,
      ...(program === undefined ? {} : { program }),
    }),
  );
  try {
    const { engine } = own;
    await firstWord(engine, turn("Warm-up.", "hello"));
    const nextTurnMs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      nextTurnMs.push((await firstWord(engine, turn("Warm-up.", "hello"))).ms);
    const newPromptMs: number[] = [];
    let newPromptTokens = 0;
    for (let round = 0; round < NEW_PROMPTS; round += 1) {
      const { ms, inputTokens } = await firstWord(engine, turn(`Call ${String(round)}.`, "hello"));
      newPromptMs.push(ms);
      newPromptTokens = inputTokens;
    }
    const memory = await memoryMb(own.pid());
    const lost = await crash(own, () => firstWord(engine, turn("Warm-up.", "hello")));
    const { startMs } = own;
    return {
      name: order.model.name,
      startMs,
      memoryMb: memory,
      nextTurnMs,
      newPromptMs,
      newPromptTokens,
      crash: lost,
    };
  } finally {
    await own.engine.close();
  }
}

function turn(beginning: string, text: string): LlmRequest {
  return {
    model: "default",
    temperature: 0,
    systemPrompt: `${beginning} ${SYSTEM_PROMPT}`,
    messages: [{ role: "user", text }],
    tools: [],
    instruction: null,
    language: null,
  };
}

async function firstWord(
  engine: LlmEngine,
  request: LlmRequest,
): Promise<{ ms: number; inputTokens: number }> {
  const from = performance.now();
  let ms = Number.NaN;
  let inputTokens = 0;
  for await (const part of engine.generate(request, new AbortController().signal)) {
    if (Number.isNaN(ms)) ms = performance.now() - from;
    if (part.type === "finish") inputTokens = part.inputTokens ?? 0;
  }
  return { ms, inputTokens };
}
