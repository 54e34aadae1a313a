/** A loaded language model as `generations.ts` uses it: by node-llama-cpp, or by a stand-in of tests. */

import type { CalledFunction, ChatRequest } from "./llm-protocol.ts";

export type Token = number;

export interface LoadedLlama {
  /** Of each context. */
  readonly contextTokens: number;
  readonly contexts: readonly LlamaContextLane[];
  /** The prompt of a request, up to the first token of the reply. */
  tokensOf(request: ChatRequest): readonly Token[];
}

/** One of the contexts. It is used by one request at a time, and keeps its tokens afterwards. */
export interface LlamaContextLane {
  /** What it has now. */
  readonly tokens: readonly Token[];
  /** Drops everything after the first tokens. */
  cutTo(count: number): Promise<void>;
  append(tokens: readonly Token[]): Promise<void>;
  /** Rejects when `signal` aborts, after the token that is in work. */
  reply(request: ChatRequest, options: ReplyOptions): Promise<LlamaReply>;
}

export interface ReplyOptions {
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
}

export interface LlamaReply {
  readonly reason: "stop" | "length" | "tool-calls";
  readonly calls: readonly CalledFunction[];
  readonly outputTokens: number;
}
