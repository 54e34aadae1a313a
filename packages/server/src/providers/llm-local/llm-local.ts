/** A language model on this machine, run by llama.cpp in a process of its own. */

import { randomUUID } from "node:crypto";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { LlmEngine, LlmPart, LlmRequest } from "../../ports/llm.ts";
import { abortError, throwIfAborted } from "../../pacing/abort.ts";
import { startLocalChild, type StartLocalChild } from "../local-child/local-child.ts";
import { localFailure } from "../local-child/local-limits.ts";
import { chatRequest } from "./chat-request.ts";
import { LlmLink } from "./llm-link.ts";
import type { CalledFunction, LlmAnswer, LlmLoadOrder } from "./llm-protocol.ts";
import { withoutOmitted } from "./tool-schema.ts";

export interface LocalLlmOptions {
  readonly order: LlmLoadOrder;
  /** Names that requests may use besides `default`; the first one is that of the model. */
  readonly names: readonly [string, ...string[]];
  /** Called with one sentence at the end and at the restart of the process; never contains what was said. */
  readonly log?: (message: string) => void;
  /** Starts a process; tests pass others. */
  readonly startChild?: StartLocalChild;
  /** The program of the process; tests pass another. */
  readonly program?: URL;
  /** Limit of the silence of a process that makes a reply; absent: a minute. */
  readonly answerTimeoutMs?: number;
}

const PROGRAM = new URL("./llm-child.ts", import.meta.url);
const FAILURE_TYPE = "local_model";

/** Resolves when the model is loaded. Rejects with a sentence when it cannot be. */
export async function openLocalLlm(options: LocalLlmOptions): Promise<LlmEngine> {
  const { order, names, startChild = startLocalChild, log = () => undefined, program = PROGRAM } = options;
  const { answerTimeoutMs } = options;
  const name = `the language model ${order.model.name}`;
  const link = new LlmLink({
    name,
    program,
    order,
    startChild,
    log,
    ...(answerTimeoutMs === undefined ? {} : { answerTimeoutMs }),
  });
  try {
    await link.load();
  } catch (error) {
    // It would be started again.
    await link.close();
    throw error;
  }
  return {
    name: "local",
    model: order.model.name,
    models: names,
    unusable: link.unusable,
    async *generate(request, signal) {
      throwIfAborted(signal);
      if (request.model !== "default" && !names.includes(request.model))
        throw new EngineFailure(`${name} has no model named ${request.model}`, {
          isPermanent: true,
          type: "unknown_model",
        });
      yield* partsOf(link, name, request, signal);
    },
    close: () => link.close(),
  };
}

/** What has arrived and was not read yet. The length of a reply is limited, and so is this. */
interface Inbox {
  readonly texts: string[];
  end: LlmAnswer | Error | null;
  wake: () => void;
}

async function* partsOf(
  link: LlmLink,
  name: string,
  request: LlmRequest,
  signal: AbortSignal,
): AsyncGenerator<LlmPart> {
  const inbox: Inbox = { texts: [], end: null, wake: () => undefined };
  const abandon = startIn(link, request, inbox);
  const wake = (): void => inbox.wake();
  signal.addEventListener("abort", wake);
  try {
    for (;;) {
      throwIfAborted(signal);
      if (link.isClosed) throw localFailure(new Error(`${name} is closed`), FAILURE_TYPE);
      if (inbox.end instanceof Error) throw localFailure(inbox.end, FAILURE_TYPE);
      const text = inbox.texts.shift();
      if (text !== undefined) yield { type: "text-delta", text };
      else if (inbox.end !== null) {
        yield* endOf(inbox.end, name, request);
        return;
      } else await new Promise<void>((resolve) => (inbox.wake = resolve));
    }
  } finally {
    signal.removeEventListener("abort", wake);
    abandon();
  }
}

function startIn(link: LlmLink, request: LlmRequest, inbox: Inbox): () => void {
  const ended = (end: LlmAnswer | Error): void => {
    inbox.end = end;
    inbox.wake();
  };
  try {
    return link.generate(chatRequest(request), {
      text: (text) => {
        inbox.texts.push(text);
        inbox.wake();
      },
      answered: ended,
      failed: (reason) => ended(new Error(reason)),
    });
  } catch (error) {
    throw localFailure(error, FAILURE_TYPE);
  }
}

function* endOf(answer: LlmAnswer, name: string, request: LlmRequest): Generator<LlmPart> {
  if (answer.type === "aborted") throw abortError();
  if (answer.type === "overflow")
    throw new EngineFailure(
      `the prompt has ${String(answer.inputTokens)} tokens, too many for the context of ${name}, ` +
        `which has ${String(answer.contextTokens)} for prompt and reply (LLM_LOCAL_CONTEXT)`,
      { type: "context_overflow" },
    );
  const { reason, calls, inputTokens, cachedInputTokens, outputTokens } = answer;
  for (const call of calls) yield { type: "tool-call", call: toolCall(call, request, name) };
  yield {
    type: "finish",
    reason,
    inputTokens,
    outputTokens,
    ...(cachedInputTokens === 0 ? {} : { cachedInputTokens }),
  };
}

function toolCall({ name, params }: CalledFunction, { tools }: LlmRequest, model: string) {
  const tool = tools.find((one) => one.name === name);
  const given = withoutOmitted(params ?? {}, tool?.parameters);
  if (tool === undefined || !isRecord(given))
    throw new EngineFailure(`${model} called a tool in a way that cannot be understood`, {
      type: "invalid_answer",
    });
  return { id: `call_${randomUUID()}`, name, arguments: given };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
