/** Messages to the process of a language model, and its answers. Words of a reply are `partial` messages. */

import type { LoadOrder } from "../local-child/local-model.ts";

/** The first message to the process. */
export interface LlmLoadOrder extends LoadOrder {
  /** Tokens of a prompt and its reply together. A model that was made for fewer has fewer. */
  readonly contextTokens: number;
  /** Replies that are made at the same time. Each has a context of its own. */
  readonly parallel: number;
}

/** The history in the form of node-llama-cpp: calls of tools, with their results, are parts of what the model said. */
export type ChatItem =
  | { readonly type: "system" | "user"; readonly text: string }
  | { readonly type: "model"; readonly response: readonly (string | ChatToolCall)[] };

export interface ChatToolCall {
  readonly type: "functionCall";
  readonly name: string;
  readonly params: unknown;
  /** A text, or the value of a JSON document. */
  readonly result: unknown;
  /** The first of those that the model made at once. */
  readonly startsNewChunk: boolean;
}

export interface ChatFunction {
  readonly description: string;
  /** See `tool-schema.ts`. Absent: it takes no arguments. */
  readonly params?: GrammarSchema;
}

/** The part of JSON Schema that node-llama-cpp makes a grammar of. */
export interface GrammarSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: string | number | boolean | null;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly oneOf?: readonly GrammarSchema[];
  readonly properties?: Readonly<Record<string, GrammarSchema>>;
  readonly additionalProperties?: boolean | GrammarSchema;
  readonly items?: GrammarSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
}

export interface ChatRequest {
  readonly history: readonly ChatItem[];
  readonly functions: Readonly<Record<string, ChatFunction>>;
  /** 0..1 */
  readonly temperature: number;
  readonly maxTokens: number;
}

export type ToLlmChild =
  | { readonly type: "generate"; readonly id: number; readonly request: ChatRequest }
  /** Still answered, soon. */
  | { readonly type: "abort"; readonly id: number };

export interface CalledFunction {
  readonly name: string;
  readonly params: unknown;
}

/** How a generation ended. */
export type LlmAnswer =
  | {
      readonly type: "finished";
      readonly reason: "stop" | "length" | "tool-calls";
      readonly calls: readonly CalledFunction[];
      readonly inputTokens: number;
      /** Of the input, those that were in the context already. */
      readonly cachedInputTokens: number;
      readonly outputTokens: number;
    }
  /** The prompt leaves no room for a reply. */
  | { readonly type: "overflow"; readonly inputTokens: number; readonly contextTokens: number }
  | { readonly type: "aborted" };
