/**
 * Language models of the `ai` SDK, whichever vendor they are of. One attempt per request; reasoning text is never passed
 * on. The SDK is loaded when an engine is opened, not when this file is.
 */

import type { LanguageModel, TextStreamPart, ToolSet } from "ai";
import type { LlmEngine, LlmPart, LlmRequest } from "../../ports/llm.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { EngineOrigin } from "../../ports/engine-origin.ts";
import { throwIfAborted } from "../../pacing/abort.ts";
import { describeFailure, failureType, isRefusal, refusesTemperature } from "./failure.ts";
import { toPrompt, type PromptShape } from "./prompt.ts";

export interface SdkLlmOptions {
  /** For traces, such as `anthropic`. */
  readonly name: string;
  /** Begins the messages of failures, such as `the model server` or `Anthropic`. */
  readonly subject: string;
  /** What the names of requests mean at the server. The first one is what `default` selects. */
  readonly models: ReadonlyMap<string, string>;
  readonly server: NonNullable<EngineOrigin["server"]>;
  /** Removed from the messages of failures. */
  readonly secrets: readonly string[];
  readonly shape: PromptShape;
  /** Whether user messages may be audio. */
  readonly takesAudio: boolean;
  /** @param model as the server names it */
  readonly connect: (model: string) => LanguageModel;
}

const MOST_TOKENS = 2 ** 31 - 1;

type FinishReason = (LlmPart & { type: "finish" })["reason"];
/** @param temperature null: that of the model */
type Stream = (
  model: string,
  request: LlmRequest,
  temperature: number | null,
  signal: AbortSignal,
) => AsyncIterable<TextStreamPart<ToolSet>>;

interface Engine {
  readonly options: SdkLlmOptions;
  readonly closing: AbortSignal;
  readonly stream: Stream;
  /** Models that have refused a temperature: those that reason often have one of their own. */
  readonly ownTemperature: Set<string>;
}

/** The server is not contacted before the first request. */
export async function openSdkLlm(options: SdkLlmOptions): Promise<LlmEngine> {
  const closing = new AbortController();
  const engine: Engine = {
    options,
    closing: closing.signal,
    stream: await loadStream(options),
    ownTemperature: new Set(),
  };
  const [model] = options.models.values();
  return {
    name: options.name,
    ...(model === undefined ? {} : { model }),
    server: options.server,
    models: [...options.models.keys()],
    takesAudio: () => options.takesAudio,
    generate: (request, signal) => generate(engine, request, signal),
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };
}

async function loadStream({ connect, shape }: SdkLlmOptions): Promise<Stream> {
  const { streamText, jsonSchema, tool } = await import("ai");
  // It prints warnings about single requests, such as a temperature that a model does not have.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return (model, request, temperature, signal) => {
    const { system, messages } = toPrompt(request, shape);
    const tools: ToolSet = Object.fromEntries(
      request.tools.map(({ name, description, parameters }) => [
        name,
        tool({ description, inputSchema: jsonSchema(parameters) }),
      ]),
    );
    return streamText({
      model: connect(model),
      messages,
      ...(temperature === null ? {} : { temperature }),
      ...(system.length === 0 ? {} : { instructions: system }),
      ...(request.tools.length === 0 ? {} : { tools }),
      maxRetries: 0,
      abortSignal: signal,
      // Errors arrive as parts of the stream. Without this the SDK prints them, including the prompt.
      onError: () => undefined,
    }).fullStream;
  };
}

/** Parts of an answer. Others may come before an error. */
const ANSWER_PARTS: ReadonlySet<string> = new Set(["text-delta", "tool-input-start", "tool-call", "finish"]);

/**
 * Every request has a temperature, and some models refuse any: of the SDK's packages only those of their own vendor know
 * which. The request is sent again without it, and so are the next ones, once that has had an answer: a refusal of another
 * field may name a temperature as well, such as that of a tool's parameter.
 */
async function* partsOf(
  { stream, ownTemperature }: Engine,
  model: string,
  request: LlmRequest,
  signal: AbortSignal,
): AsyncGenerator<TextStreamPart<ToolSet>> {
  if (!ownTemperature.has(model)) {
    let isRefused = false;
    for await (const part of stream(model, request, request.temperature, signal)) {
      isRefused = part.type === "error" && refusesTemperature(part.error);
      if (isRefused) break;
      yield part;
    }
    if (!isRefused) return;
  }
  for await (const part of stream(model, request, null, signal)) {
    if (ANSWER_PARTS.has(part.type)) ownTemperature.add(model);
    yield part;
  }
}

async function* generate(engine: Engine, request: LlmRequest, signal: AbortSignal): AsyncGenerator<LlmPart> {
  const { models, subject, secrets } = engine.options;
  const check = (): void => {
    throwIfAborted(signal);
    if (engine.closing.aborted) throw new Error("the language model is closed");
  };
  check();
  const [ownModel] = models.values();
  const model = request.model === "default" ? ownModel : models.get(request.model);
  if (model === undefined) {
    throw new EngineFailure(`${subject} has no model named ${request.model}`, {
      isPermanent: true,
      type: "unknown_model",
    });
  }
  const leaving = new AbortController();
  let finished = false;
  try {
    const any = AbortSignal.any([signal, engine.closing, leaving.signal]);
    for await (const part of partsOf(engine, model, request, any)) {
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
    const what = error instanceof BadAnswer ? error.message : describeFailure(unwrap(error), secrets);
    // Without the cause: errors of the SDK carry the prompt, and errors are logged.
    // oxlint-disable-next-line preserve-caught-error
    throw new EngineFailure(`${subject} ${what}`, {
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
  if (part.type === "tool-input-start" || part.type === "tool-input-delta")
    return { type: "tool-call-delta" };
  if (part.type === "tool-call") {
    if (part.invalid === true || !isRecord(part.input))
      throw new BadAnswer("called a tool in a way that cannot be understood");
    return {
      type: "tool-call",
      call: { id: part.toolCallId, name: part.toolName, arguments: part.input },
    };
  }
  if (part.type !== "finish") return null;
  // The SDK finishes some broken-off answers by itself, without the vendor's own reason.
  if (part.rawFinishReason === undefined) throw new BadAnswer("sent an incomplete answer");
  const { inputTokens, inputTokenDetails, outputTokens } = part.totalUsage;
  const cachedInputTokens = tokenCount(inputTokenDetails.cacheReadTokens, 0);
  return {
    type: "finish",
    reason: finishReason(part.rawFinishReason === "error" ? "error" : part.finishReason),
    // Every request has a prompt, so 0 is how some servers say that they do not count.
    inputTokens: tokenCount(inputTokens, 1),
    outputTokens: tokenCount(outputTokens, 0),
    ...(cachedInputTokens === null || cachedInputTokens === 0 ? {} : { cachedInputTokens }),
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
