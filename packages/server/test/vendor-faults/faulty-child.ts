/**
 * Program of a process that speaks the protocol of a model's process, without a model, and has the fault that the name
 * of the model says.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Asked } from "../../src/providers/local-child/child-thread.ts";
import { runModel, type Tell } from "../../src/providers/local-child/child-program.ts";
import type { LoadOrder } from "../../src/providers/local-child/local-model.ts";
import { Generations } from "../../src/providers/llm-local/generations.ts";
import type { LlmAnswer, ToLlmChild } from "../../src/providers/llm-local/llm-protocol.ts";
import type { LlamaReply, ReplyOptions } from "../../src/providers/llm-local/loaded-llama.ts";
import { openWordLlama } from "../../src/providers/llm-local/testing/word-llama.ts";
import type { ToStreamingChild } from "../../src/providers/stt-local/streaming-protocol.ts";
import type { SpokenPiece, SpokenText } from "../../src/providers/tts-local/tts-protocol.ts";
import type { VendorFault } from "./gates.ts";
import { REPLY_PIECES, SPOKEN, VOICE_RATE_HZ } from "./said.ts";

/** Of one character. */
const MS_PER_CHAR = 40;
const HANGS: readonly string[] = ["429", "hang before the first byte", "hang in the middle"];
const FAILED = "the model has failed";

type Reply = (options: ReplyOptions) => Promise<LlamaReply>;

/** Two pieces of the reply come before a fault in the middle. */
function replyWith(fault: VendorFault): Reply {
  return async ({ signal, onText }) => {
    if (fault === "5xx") throw new Error(FAILED);
    const isWhole = fault === "slow";
    const pieces = fault.endsWith("middle") ? REPLY_PIECES.slice(0, 2) : isWhole ? REPLY_PIECES : [];
    for (const piece of pieces) {
      await nextTurn();
      onText(piece);
    }
    if (HANGS.includes(fault)) await untilAborted(signal);
    if (fault === "drop in the middle") await died();
    const calls = fault === "garbage" ? [{ name: "no_such_tool", params: { q: 1 } }] : [];
    return { reason: calls.length === 0 ? "stop" : "tool-calls", calls, outputTokens: pieces.length };
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });
}

/** Ends the process after what was said has left it. */
function die(): void {
  const last = { type: "partial", id: -1, text: "" };
  process.send?.(last, undefined, undefined, () => process.kill(process.pid, "SIGKILL"));
}

function died(): Promise<never> {
  die();
  return new Promise(() => undefined);
}

function llm(fault: VendorFault, tell: Tell<LlmAnswer>) {
  const words = openWordLlama({ parallel: 1 });
  const reply = replyWith(fault);
  const contexts = words.contexts.map((context) => ({
    ...context,
    reply: (_request: unknown, options: ReplyOptions) => reply(options),
  }));
  const generations = new Generations({ ...words, contexts }, tell);
  return (message: ToLlmChild) => generations.take(message);
}

function voice(fault: VendorFault, tell: Tell<SpokenPiece>) {
  return ({ id, request: { text } }: Asked<SpokenText>) => {
    if (fault === "5xx") tell({ type: "failed", id, detail: FAILED });
    if (fault === "5xx" || HANGS.includes(fault)) return;
    const length = fault === "garbage" ? 0 : (text.length * MS_PER_CHAR * VOICE_RATE_HZ) / 1_000;
    const samples = new Int16Array(length).fill(9_000);
    tell({ type: "answered", id, answer: { samples, sampleRateHz: VOICE_RATE_HZ } });
  };
}

function heardAs(fault: VendorFault, id: number, tell: Tell<string>): void {
  if (fault === "5xx") tell({ type: "failed", id, detail: FAILED });
  else if (fault === "drop in the middle") die();
  else if (!HANGS.includes(fault)) tell({ type: "answered", id, answer: SPOKEN });
}

runModel<never, never>((order: LoadOrder, tell) => {
  const { name, family } = order.model;
  const fault = name as VendorFault;
  // Each kind of model has messages of its own, which the family decides.
  if (family === "gguf") return llm(fault, tell as unknown as Tell<LlmAnswer>);
  if (family === "vits") return voice(fault, tell as unknown as Tell<SpokenPiece>);
  const words = tell as unknown as Tell<string>;
  if (family.startsWith("online-"))
    return (message: ToStreamingChild) => {
      if (message.type === "finish") heardAs(fault, message.id, words);
    };
  return ({ id }: Asked<Int16Array>) => heardAs(fault, id, words);
});
