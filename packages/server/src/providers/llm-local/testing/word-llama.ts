/**
 * Stands in for a loaded model: a token is a word, and a reply repeats what was asked, a word at a time. Words of the
 * caller make it fail as a real one does.
 */

import type { ChatItem, ChatRequest } from "../llm-protocol.ts";
import type { LlamaContextLane, LlamaReply, LoadedLlama, ReplyOptions, Token } from "../loaded-llama.ts";

export interface WordLlamaOptions {
  readonly contextTokens?: number;
  readonly parallel?: number;
}

export interface WordLlama extends LoadedLlama {
  /** How many tokens each `append` was given. */
  readonly appended: number[];
}

/** Words of the caller that have an effect. */
export const HANG = "hang";
export const CRASH = "crash";
export const FAIL = "fail";
/** Calls the first tool. */
export const CALL = "call";

export function openWordLlama({ contextTokens = 2_000, parallel = 2 }: WordLlamaOptions = {}): WordLlama {
  const ids = new Map<string, Token>();
  const appended: number[] = [];
  const tokensIn = (text: string): Token[] =>
    text.split(/(?<= )/).map((word) => {
      const known = ids.get(word) ?? ids.size;
      ids.set(word, known);
      return known;
    });
  const tokensOf = ({ history, functions }: ChatRequest): Token[] => [
    ...tokensIn(JSON.stringify(functions)),
    ...history.flatMap((item) => tokensIn(`${item.type}: ${textOf(item)}`)),
    ...tokensIn("model:"),
  ];
  const openContext = (): LlamaContextLane => {
    const tokens: Token[] = [];
    return {
      tokens,
      cutTo: (count) => Promise.resolve(void tokens.splice(count)),
      append: async (more) => {
        appended.push(more.length);
        await nextTurn();
        tokens.push(...more);
      },
      reply: async (request, options) => {
        const reply = await replyTo(request, options, (word) => tokens.push(...tokensIn(word)));
        return reply;
      },
    };
  };
  return { contextTokens, contexts: Array.from({ length: parallel }, openContext), tokensOf, appended };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function textOf(item: ChatItem): string {
  return item.type === "model" ? JSON.stringify(item.response) : item.text;
}

async function replyTo(
  { history, functions }: ChatRequest,
  { maxTokens, signal, onText }: ReplyOptions,
  said: (word: string) => void,
): Promise<LlamaReply> {
  const asked = history.at(-1);
  const text = asked === undefined ? "" : textOf(asked);
  if (text.includes(FAIL)) throw new Error("the model has failed");
  if (text.includes(CRASH)) process.kill(process.pid, "SIGKILL");
  const words = `You said: ${text}.`.split(/(?<= )/);
  let outputTokens = 0;
  for (const word of words) {
    await nextTurn();
    signal.throwIfAborted();
    if (outputTokens === maxTokens) return { reason: "length", calls: [], outputTokens };
    outputTokens += 1;
    said(word);
    onText(word);
    if (text.includes(HANG)) await untilAborted(signal);
  }
  const [name] = Object.keys(functions);
  if (!text.includes(CALL) || name === undefined) return { reason: "stop", calls: [], outputTokens };
  const params = { q: "nine", day: null };
  return { reason: "tool-calls", calls: [{ name, params }], outputTokens };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });
}
