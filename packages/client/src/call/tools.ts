/** Client tools: what the page does for the agent. Each invocation gets exactly one result. */

import type { ClientToolInvocation, ToolResultMessage } from "./messages.ts";

export interface ToolContext {
  readonly invocationId: string;
  /** Aborted after the timeout or when the call ends. */
  readonly signal: AbortSignal;
}

/**
 * Returns the result for the model: text, any JSON value, or a `ToolAnswer`. If it throws, the model gets a failure of
 * the tool without the error's message, which is stored with the call.
 */
export type ToolHandler = (parameters: Readonly<Record<string, unknown>>, context: ToolContext) => unknown;

export type ToolAnswerDetails = Pick<ToolResultMessage, "responseType" | "agentReaction" | "updateCallState">;

/** A result with more than the text for the model. */
export class ToolAnswer {
  readonly result: unknown;
  readonly details: ToolAnswerDetails;

  constructor(result: unknown, details: ToolAnswerDetails = {}) {
    this.result = result;
    this.details = details;
  }
}

export interface ToolOptions {
  /** Timeout of the handler; default 30 s. The tool's timeout in the service may be shorter. */
  readonly timeoutMs?: number;
}

export interface ToolFailure {
  readonly toolName: string;
  readonly invocationId: string;
  readonly error: unknown;
}

interface Tool extends Required<ToolOptions> {
  readonly handler: ToolHandler;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** Longest result in UTF-16 units: below the 256 KiB of a data message even where each takes two bytes. */
const MAX_RESULT_LENGTH = 120_000;
/** Characters of an error that are stored with the call. */
const MAX_ERROR_LENGTH = 1_000;
/** Remembered invocations, so that a repeated one runs once; a call has at most some hundreds. */
const MAX_REMEMBERED = 1_000;

export interface ToolsOptions {
  readonly send: (message: ToolResultMessage) => void;
  readonly failed: (failure: ToolFailure) => void;
}

export class Tools {
  readonly #options: ToolsOptions;
  readonly #tools = new Map<string, Tool>();
  readonly #seen = new Set<string>();
  readonly #over = new AbortController();

  constructor(options: ToolsOptions) {
    this.#options = options;
  }

  /** @returns a function that removes the tool */
  register(
    name: string,
    handler: ToolHandler,
    { timeoutMs = DEFAULT_TIMEOUT_MS }: ToolOptions = {},
  ): () => void {
    const tool: Tool = { handler, timeoutMs };
    this.#tools.set(name, tool);
    return () => {
      if (this.#tools.get(name) === tool) this.#tools.delete(name);
    };
  }

  /** Runs the requested tool and sends its result. Never rejects. */
  async invoke({ toolName, invocationId, parameters }: ClientToolInvocation): Promise<void> {
    if (this.#seen.has(invocationId)) return;
    this.#seen.add(invocationId);
    for (const oldest of this.#seen) {
      if (this.#seen.size <= MAX_REMEMBERED) break;
      this.#seen.delete(oldest);
    }
    const tool = this.#tools.get(toolName);
    const failed = (error: unknown, errorType: "undefined" | "implementation-error") => {
      this.#options.failed({ toolName, invocationId, error });
      this.#send({ type: "client_tool_result", invocationId, errorType, errorMessage: textOf(error) });
    };
    if (tool === undefined) {
      failed(new Error(`The page has no tool ${toolName}.`), "undefined");
      return;
    }
    try {
      const answer = await this.#run(tool, parameters, invocationId);
      const { result, details } = answer instanceof ToolAnswer ? answer : new ToolAnswer(answer);
      this.#send({ type: "client_tool_result", invocationId, result: resultText(result), ...details });
    } catch (error) {
      failed(error, "implementation-error");
    }
  }

  /** Aborts running tools; no more results are sent. */
  close(): void {
    this.#over.abort(new Error("The call has ended."));
    this.#tools.clear();
  }

  async #run(
    { handler, timeoutMs }: Tool,
    parameters: ClientToolInvocation["parameters"],
    invocationId: string,
  ): Promise<unknown> {
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(new Error(`The tool took longer than ${String(timeoutMs)} ms.`)),
      timeoutMs,
    );
    const signal = AbortSignal.any([late.signal, this.#over.signal]);
    try {
      return await Promise.race([handler(parameters, { invocationId, signal }), aborted(signal)]);
    } finally {
      clearTimeout(timer);
    }
  }

  #send(message: ToolResultMessage): void {
    if (!this.#over.signal.aborted) this.#options.send(message);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function resultText(result: unknown): string {
  const text = typeof result === "string" ? result : (JSON.stringify(result) ?? "");
  if (text.length <= MAX_RESULT_LENGTH) return text;
  throw new Error(`The result is longer than ${String(MAX_RESULT_LENGTH)} characters.`);
}

function textOf(error: unknown): string {
  return String(error).slice(0, MAX_ERROR_LENGTH);
}
