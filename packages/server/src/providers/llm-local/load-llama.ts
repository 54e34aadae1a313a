/** Loads a model by node-llama-cpp. */

import { open } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ChatItem, ChatRequest, LlmLoadOrder } from "./llm-protocol.ts";
import type {
  ChatResponse,
  ChatWrapper,
  LlamaChat,
  LlamaModel,
  LlamaPackage,
  LlamaSequence,
} from "./llama-package.ts";
import type { LlamaContextLane, LlamaReply, LoadedLlama, ReplyOptions, Token } from "./loaded-llama.ts";

export async function loadLlama(order: LlmLoadOrder): Promise<LoadedLlama> {
  const { model, threads, parallel } = order;
  if (model.family !== "gguf") throw new Error(`a model of the kind ${model.family} is not a language model`);
  const modelPath = model.paths["model"] ?? "";
  await checkHead(modelPath);
  const llamaPackage = await importPackage(order.packageFolder);
  const llama = await llamaPackage.getLlama({
    // The package for Linux and Windows that is installed has no other, and that of Apple's processors has only Metal.
    gpu: process.platform === "darwin" ? "auto" : false,
    build: "never",
    skipDownload: true,
    progressLogs: false,
    logLevel: "error",
    maxThreads: threads,
  });
  const loaded = await llama.loadModel({ modelPath });
  const context = await loaded.createContext({
    sequences: parallel,
    contextSize: Math.min(order.contextTokens, loaded.trainContextSize),
    threads,
    failedCreationRemedy: false,
  });
  const chatWrapper = llamaPackage.resolveChatWrapper(loaded);
  const contexts = Array.from({ length: parallel }, () => {
    const sequence = context.getSequence();
    return new ChatContext(sequence, new llamaPackage.LlamaChat({ contextSequence: sequence, chatWrapper }));
  });
  return {
    contextTokens: context.contextSize,
    contexts,
    tokensOf: (request) => promptTokens(loaded, chatWrapper, request),
  };
}

/** Versions of the format so far are 1 to 3. */
const MAX_GGUF_VERSION = 15;

/** The package reads a file of another kind again and again for a minute before it fails. */
async function checkHead(path: string): Promise<void> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
  const version = bytesRead === 8 ? buffer.readUInt32LE(4) : 0;
  if (buffer.toString("latin1", 0, 4) !== "GGUF" || version < 1 || version > MAX_GGUF_VERSION)
    throw new Error("its file is not a GGUF model");
}

async function importPackage(folder: string): Promise<LlamaPackage> {
  const found: unknown = await import(pathToFileURL(join(folder, "dist", "index.js")).href);
  return found as LlamaPackage;
}

/** The reply is the rest of what the model says last. */
function openedHistory(history: readonly ChatItem[]): readonly ChatItem[] {
  return history.at(-1)?.type === "model" ? history : [...history, { type: "model", response: [] }];
}

function promptTokens(model: LlamaModel, wrapper: ChatWrapper, request: ChatRequest): readonly Token[] {
  const { contextText } = wrapper.generateContextState({
    chatHistory: openedHistory(request.history),
    ...functionsOf(request),
  });
  return contextText.tokenize(model.tokenizer);
}

function functionsOf({ functions }: ChatRequest): {
  readonly availableFunctions?: ChatRequest["functions"];
  readonly documentFunctionParams: true;
} {
  const isEmpty = Object.keys(functions).length === 0;
  return { ...(isEmpty ? {} : { availableFunctions: functions }), documentFunctionParams: true };
}

class ChatContext implements LlamaContextLane {
  readonly #sequence: LlamaSequence;
  readonly #chat: LlamaChat;

  constructor(sequence: LlamaSequence, chat: LlamaChat) {
    this.#sequence = sequence;
    this.#chat = chat;
  }

  get tokens(): readonly Token[] {
    return this.#sequence.contextTokens;
  }

  async cutTo(count: number): Promise<void> {
    // Without shifts: what follows a difference was computed from what was there before, maybe from another call.
    await this.#sequence.adaptStateToTokens(this.tokens.slice(0, count), false);
  }

  async append(tokens: readonly Token[]): Promise<void> {
    await this.#sequence.evaluateWithoutGeneratingNewTokens(tokens);
  }

  async reply(request: ChatRequest, { maxTokens, signal, onText }: ReplyOptions): Promise<LlamaReply> {
    const { availableFunctions: functions } = functionsOf(request);
    const outputBefore = this.#sequence.tokenMeter.usedOutputTokens;
    let isFull = false;
    const full = new AbortController();
    const response = await this.#chat.generateResponse(request.history, {
      ...(functions === undefined ? {} : { functions }),
      documentFunctionParams: true,
      temperature: request.temperature,
      maxTokens,
      budgets: { thoughtTokens: 0 },
      signal: AbortSignal.any([signal, full.signal]),
      // There is room for `maxTokens`, so this is a second guard: a model must not forget parts of its instructions.
      contextShift: {
        strategy: ({ chatHistory }) => {
          isFull = true;
          full.abort(new Error("the reply does not fit into the context of the model"));
          return { chatHistory };
        },
      },
      onTextChunk: (text) => {
        if (!isFull) onText(text);
      },
    });
    const outputTokens = this.#sequence.tokenMeter.usedOutputTokens - outputBefore;
    return { ...endOf(response), outputTokens };
  }
}

function endOf({ functionCalls = [], metadata }: ChatResponse): Omit<LlamaReply, "outputTokens"> {
  const calls = functionCalls.map(({ functionName: name, params }) => ({ name, params }));
  if (calls.length > 0) return { reason: "tool-calls", calls };
  return { reason: metadata.stopReason === "maxTokens" ? "length" : "stop", calls };
}
