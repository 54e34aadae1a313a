/** What is used of node-llama-cpp, which is not installed with the service: see `models/catalogue.ts`. */

import type { ChatFunction, ChatItem } from "./llm-protocol.ts";
import type { Token } from "./loaded-llama.ts";

export interface LlamaPackage {
  getLlama(options: {
    readonly gpu: "auto" | false;
    readonly build: "never";
    readonly skipDownload: boolean;
    readonly progressLogs: boolean;
    readonly logLevel: "error";
    readonly maxThreads: number;
  }): Promise<Llama>;
  resolveChatWrapper(model: LlamaModel): ChatWrapper;
  readonly LlamaChat: new (options: {
    readonly contextSequence: LlamaSequence;
    readonly chatWrapper: ChatWrapper;
  }) => LlamaChat;
}

interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<LlamaModel>;
}

export interface LlamaModel {
  readonly trainContextSize: number;
  readonly tokenizer: unknown;
  createContext(options: {
    /** Each has `contextSize`. */
    readonly sequences: number;
    readonly contextSize: number;
    readonly threads: number;
    readonly failedCreationRemedy: false;
  }): Promise<LlamaContext>;
}

interface LlamaContext {
  readonly contextSize: number;
  getSequence(): LlamaSequence;
}

export interface LlamaSequence {
  readonly contextTokens: readonly Token[];
  readonly tokenMeter: { readonly usedOutputTokens: number };
  adaptStateToTokens(tokens: readonly Token[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly Token[]): Promise<void>;
}

export interface ChatWrapper {
  generateContextState(options: {
    readonly chatHistory: readonly ChatItem[];
    readonly availableFunctions?: Readonly<Record<string, ChatFunction>>;
    readonly documentFunctionParams: boolean;
  }): { readonly contextText: { tokenize(tokenizer: unknown): Token[] } };
}

export interface LlamaChat {
  generateResponse(
    history: readonly ChatItem[],
    options: {
      readonly functions?: Readonly<Record<string, ChatFunction>>;
      readonly documentFunctionParams: boolean;
      readonly temperature: number;
      readonly maxTokens: number;
      /** Those of thoughts, which nobody hears. */
      readonly budgets: { readonly thoughtTokens: number };
      readonly signal: AbortSignal;
      readonly contextShift: { readonly strategy: ShiftStrategy };
      readonly onTextChunk: (text: string) => void;
    },
  ): Promise<ChatResponse>;
}

type ShiftStrategy = (given: { readonly chatHistory: readonly ChatItem[] }) => {
  readonly chatHistory: readonly ChatItem[];
};

export interface ChatResponse {
  readonly functionCalls?: readonly { readonly functionName: string; readonly params: unknown }[];
  readonly metadata: { readonly stopReason: string };
}
