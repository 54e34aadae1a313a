/**
 * Language models behind an OpenAI-compatible `POST {base}/chat/completions`, through the `ai` SDK. One attempt per
 * request; reasoning text is never passed on. The SDK is loaded when an engine is opened, not when this file is.
 */

import type { TextStreamPart, ToolSet } from "ai";
import type { LlmEngine, LlmPart, LlmRequest } from "../../ports/llm.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { serverOf } from "../../ports/engine-origin.ts";
import { describeFailure, failureType, isRefusal } from "./failure.ts";
import { toPrompt } from "./prompt.ts";
import { throwIfAborted } from "../../pacing/abort.ts";

export interface OpenAiLlmOptions {
  /** With the version, without a slash at the end, for example `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** The model that the name `default` selects. */
  readonly model: string;
  /** Further model names that a request may use. */
  readonly models?: readonly string[];
}

const MOST_TOKENS = 2 ** 31 - 1;

type FinishReason = (LlmPart & { type: "finish" })["reason"];

interface Engine {
  readonly options: OpenAiLlmOptions;
  readonly models: readonly string[];
  readonly closing: AbortSignal;
  readonly stream: (
    model: string,
    request: LlmRequest,
    signal: AbortSignal,
  ) => AsyncIterable<TextStreamPart<ToolSet>>;
}

/** The server is not contacted before the first request. */
export async function openOpenAiLlm(options: OpenAiLlmOptions): Promise<LlmEngine> {
  const closing = new AbortController();
  const models = [...new Set([options.model, ...(options.models ?? [])])];
  const engine: Engine = { options, models, closing: closing.signal, stream: await loadStream(options) };
  return {
    name: "openai",
    model: options.model,
    server: serverOf(options.baseUrl),
    models,
    generate: (request, signal) => generate(engine, request, signal),
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };
}

async function loadStream({ baseUrl, apiKey }: OpenAiLlmOptions): Promise<Engine["stream"]> {
  const [{ streamText, jsonSchema, tool }, { createOpenAICompatible }] = await Promise.all([
    import("ai"),
    import("@ai-sdk/openai-compatible"),
  ]);
  const provider = createOpenAICompatible({
    name: "openai",
    baseURL: baseUrl,
    includeUsage: true,
    ...(apiKey === null ? {} : { apiKey }),
  });
  return (model, request, signal) => {
    const { system, messages } = toPrompt(request);
    const tools: ToolSet = Object.fromEntries(
      request.tools.map(({ name, description, parameters }) => [
        name,
        tool({ description, inputSchema: jsonSchema(parameters) }),
      ]),
    );
    return streamText({
      model: provider.chatModel(model),
      temperature: request.temperature,
      messages,
      ...(system === "" ? {} : { instructions: system }),
      ...(request.tools.length === 0 ? {} : { tools }),
      maxRetries: 0,
      abortSignal: signal,
      // Errors arrive as parts of the stream. Without this the SDK prints them, including the prompt.
      onError: () => undefined,
    }).fullStream;
  };
}

async function* generate(engine: Engine, request: LlmRequest, signal: AbortSignal): AsyncGenerator<LlmPart> {
  const check = (): void => {
    throwIfAborted(signal);
    if (engine.closing.aborted) throw new Error("the language model is closed");
  };
  check();
  const model = request.model === "default" ? engine.options.model : request.model;
  if (!engine.models.includes(model)) {
    throw new EngineFailure(`the model server has no model named ${model}`, {
      isPermanent: true,
      type: "unknown_model",
    });
  }
  const leaving = new AbortController();
  let finished = false;
  try {
    const any = AbortSignal.any([signal, engine.closing, leaving.signal]);
    for await (const part of engine.stream(model, request, any)) {
      check();
      const mapped = mapPart(part);
      if (mapped === null) continue;
      finished = mapped.type === "finish";
      yield mapped;
      if (finished) return;
      check();
    }
    check();
    throw new BadAnswer("ended its answer without finishing it");
  } catch (error) {
    check();
    const what =
      error instanceof BadAnswer ? error.message : describeFailure(unwrap(error), engine.options.apiKey);
    // Without the cause: errors of the SDK carry the prompt, and errors are logged.
    // oxlint-disable-next-line preserve-caught-error
    throw new EngineFailure(`the model server ${what}`, {
      isPermanent: isRefusal(unwrap(error)),
      type: error instanceof BadAnswer ? "invalid_answer" : failureType(unwrap(error)),
    });
  } finally {
    leaving.abort();
  }
}

/** An error that this file finds in an answer; the message is the end of a sentence. */
class BadAnswer extends Error {}

/** Carries the value of an `error` part, which need not be an Error. */
class ReportedError extends Error {
  readonly value: unknown;
  constructor(value: unknown) {
    super("reported");
    this.value = value;
  }
}

function unwrap(error: unknown): unknown {
  return error instanceof ReportedError ? error.value : error;
}

/** Null for parts that the port does not have, such as reasoning. */
function mapPart(part: TextStreamPart<ToolSet>): LlmPart | null {
  if (part.type === "error") throw new ReportedError(part.error);
  if (part.type === "text-delta") return part.text === "" ? null : { type: "text-delta", text: part.text };
  if (part.type === "tool-call") {
    if (part.invalid === true || !isRecord(part.input))
      throw new BadAnswer("called a tool in a way that cannot be understood");
    return {
      type: "tool-call",
      call: { id: part.toolCallId, name: part.toolName, arguments: part.input },
    };
  }
  if (part.type !== "finish") return null;
  return {
    type: "finish",
    reason: finishReason(part.rawFinishReason === "error" ? "error" : part.finishReason),
    // Every request has a prompt, so 0 is how some servers say that they do not count.
    inputTokens: tokenCount(part.totalUsage.inputTokens, 1),
    outputTokens: tokenCount(part.totalUsage.outputTokens, 0),
  };
}

/** Null: not reported, or not a number of tokens. The store keeps 32 bits. */
function tokenCount(value: number | undefined, least: number): number | null {
  const isCount = value !== undefined && Number.isInteger(value) && value >= least && value <= MOST_TOKENS;
  return isCount ? value : null;
}

function finishReason(reason: string): FinishReason {
  switch (reason) {
    case "stop":
    case "length":
    case "tool-calls":
    case "content-filter":
      return reason;
    case "error":
      throw new BadAnswer("finished its answer with an error");
    default:
      return "other";
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
