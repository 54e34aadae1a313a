/** The generations of a language model's process: each has a context of its own until it ends. */

import { messageOf } from "../../pacing/error-text.ts";
import type { Tell } from "../local-child/child-program.ts";
import type { ChatRequest, LlmAnswer, ToLlmChild } from "./llm-protocol.ts";
import type { LlamaContextLane, LoadedLlama, Token } from "./loaded-llama.ts";
import { chooseContext, commonPrefix } from "./prefix-choice.ts";

/** A prompt is computed in pieces: an abort takes effect after one of them, and other replies continue between them. */
const PIECE_TOKENS = 64;
/** A prompt must leave so many tokens for the reply. */
export const MIN_REPLY_TOKENS = 64;
/** What the form of a call of a tool may add to the tokens that are counted. */
const RESERVED_TOKENS = 32;

interface Lane {
  readonly context: LlamaContextLane;
  usedAt: number;
  isFree: boolean;
}

export class Generations {
  readonly #llama: LoadedLlama;
  readonly #tell: Tell<LlmAnswer>;
  readonly #lanes: readonly Lane[];
  readonly #running = new Map<number, AbortController>();
  #uses = 0;

  constructor(llama: LoadedLlama, tell: Tell<LlmAnswer>) {
    this.#llama = llama;
    this.#tell = tell;
    this.#lanes = llama.contexts.map((context) => ({ context, usedAt: 0, isFree: true }));
  }

  take(message: ToLlmChild): void {
    if (message.type === "abort") {
      this.#running.get(message.id)?.abort();
      return;
    }
    void this.#run(message.id, message.request);
  }

  /** Never rejects. */
  async #run(id: number, request: ChatRequest): Promise<void> {
    const abort = new AbortController();
    this.#running.set(id, abort);
    try {
      const answer = await this.#generate(id, request, abort.signal);
      this.#tell({ type: "answered", id, answer });
    } catch (error) {
      if (abort.signal.aborted) this.#tell({ type: "answered", id, answer: { type: "aborted" } });
      else this.#tell({ type: "failed", id, detail: messageOf(error) });
    } finally {
      this.#running.delete(id);
    }
  }

  async #generate(id: number, request: ChatRequest, signal: AbortSignal): Promise<LlmAnswer> {
    const { contextTokens } = this.#llama;
    const prompt = this.#llama.tokensOf(request);
    const room = contextTokens - prompt.length - RESERVED_TOKENS;
    if (room < MIN_REPLY_TOKENS) return { type: "overflow", inputTokens: prompt.length, contextTokens };
    const lane = this.#claim(prompt);
    try {
      const { context } = lane;
      const cachedInputTokens = await this.#prepare(id, context, prompt, signal);
      const reply = await context.reply(request, {
        maxTokens: Math.min(request.maxTokens, room),
        signal,
        onText: (text) => {
          if (text !== "") this.#tell({ type: "partial", id, text });
        },
      });
      return { type: "finished", ...reply, inputTokens: prompt.length, cachedInputTokens };
    } finally {
      this.#uses += 1;
      lane.usedAt = this.#uses;
      lane.isFree = true;
    }
  }

  #claim(prompt: readonly Token[]): Lane {
    const free = this.#lanes.filter(({ isFree }) => isFree);
    const chosen = chooseContext(
      free.map((lane) => ({ lane, tokens: lane.context.tokens, usedAt: lane.usedAt })),
      prompt,
    );
    if (chosen === null) throw new Error("more replies were asked for than there are contexts");
    chosen.lane.isFree = false;
    return chosen.lane;
  }

  /** Computes the prompt but for its last token, which the reply begins with. Returns how many tokens were there. */
  async #prepare(
    id: number,
    context: LlamaContextLane,
    prompt: readonly Token[],
    signal: AbortSignal,
  ): Promise<number> {
    const wanted = prompt.slice(0, -1);
    const there = commonPrefix(context.tokens, wanted);
    if (context.tokens.length > there) await context.cutTo(there);
    // A model whose state cannot be cut anywhere has been cut further.
    const cached = context.tokens.length;
    for (let at = cached; at < wanted.length; at += PIECE_TOKENS) {
      signal.throwIfAborted();
      await context.append(wanted.slice(at, at + PIECE_TOKENS));
      // So that the service knows that this process works.
      this.#tell({ type: "partial", id, text: "" });
    }
    signal.throwIfAborted();
    return cached;
  }
}
