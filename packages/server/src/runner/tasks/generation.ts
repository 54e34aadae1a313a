/** Replies, and generations of side threads, that the language model is writing. */

import type { ReplyRequest } from "../../call/effects.ts";
import type { CallEngineEventBody } from "../../call/events.ts";
import { failureKind } from "../../ports/engine-failure.ts";
import type { EngineUser } from "../../ports/engine-steps.ts";
import type { UseListener } from "../../ports/engine-use.ts";
import type { LlmEngine, LlmPart, LlmRequest } from "../../ports/llm.ts";
import type { Served, ServedRequest } from "../engine-user.ts";
import { checkToolCall, type CheckArguments, type CheckedToolCall } from "./tool-call-check.ts";
import { voiceIn, type VoiceOf } from "./voice-input.ts";
import { messageOf } from "../../pacing/error-text.ts";

type Finish = Omit<Extract<LlmPart, { readonly type: "finish" }>, "type" | "reason">;
type Failed = { readonly error: string } & ReturnType<typeof failureKind>;

/** The events about a generation with this id. */
export interface GenerationEvents {
  readonly text: (id: number, text: string) => CallEngineEventBody;
  readonly called: (id: number, checked: CheckedToolCall) => CallEngineEventBody;
  readonly finished: (id: number, finish: Finish) => CallEngineEventBody;
  readonly failed: (id: number, failure: Failed) => CallEngineEventBody;
  /** As which request a list of models reports it. */
  readonly request: (id: number) => ServedRequest;
}

export const REPLY_EVENTS: GenerationEvents = {
  text: (replyId, text) => ({ type: "replyTextReceived", replyId, text }),
  called: (replyId, checked) => ({ type: "replyToolCalled", replyId, ...checked }),
  finished: (replyId, finish) => ({ type: "replyTextFinished", replyId, ...finish }),
  failed: (replyId, failure) => ({ type: "replyFailed", replyId, ...failure }),
  request: (replyId) => ({ kind: "llm", replyId }),
};

export const SIDE_EVENTS: GenerationEvents = {
  text: (generationId, text) => ({ type: "sideTextReceived", generationId, text }),
  called: (generationId, checked) => ({ type: "sideToolCalled", generationId, ...checked }),
  finished: (generationId, finish) => ({ type: "sideTextFinished", generationId, ...finish }),
  failed: (generationId, { error, permanent, errorType }) => ({
    type: "sideGenerationFailed",
    generationId,
    error,
    ...(permanent === undefined ? {} : { permanent }),
    ...(errorType === undefined ? {} : { errorType }),
  }),
  request: (generationId) => ({ kind: "side", generationId }),
};

export interface GenerationsDeps {
  readonly llm: LlmEngine;
  readonly user?: EngineUser;
  /** Unset: nobody counts the requests. */
  readonly meterOf?: (id: number) => UseListener;
  readonly checkArguments: CheckArguments;
  /** Unset: those of replies. */
  readonly events?: GenerationEvents;
  /** At once; more fail. Unset: no limit, for the engine has one reply at a time. */
  readonly maxRunning?: number;
  readonly post: (event: CallEngineEventBody) => void;
  /** Called with the model of a list that answers. Unset: not reported. */
  readonly served?: Served | undefined;
  /** Called for a throw that only a bug of ours can cause. */
  readonly faulted: (error: unknown) => void;
}

export class Generations {
  readonly #deps: GenerationsDeps;
  readonly #events: GenerationEvents;
  readonly #running = new Map<number, AbortController>();

  constructor(deps: GenerationsDeps) {
    this.#deps = deps;
    this.#events = deps.events ?? REPLY_EVENTS;
  }

  /** @param voiceOf 16 kHz mono audio of an utterance, for a model that hears it; null: it is no longer there */
  start(id: number, request: ReplyRequest, voiceOf: VoiceOf = () => null): void {
    this.abort(id);
    const { maxRunning = Infinity } = this.#deps;
    if (this.#running.size >= maxRunning) {
      this.#deps.post(this.#events.failed(id, { error: `more than ${String(maxRunning)} generations` }));
      return;
    }
    const controller = new AbortController();
    this.#running.set(id, controller);
    const { languageHint: language, ...rest } = request;
    // Messages of an earlier stage may name utterances although the model of this one does not hear.
    const hears = this.#deps.llm.takesAudio?.(request.model) === true;
    const audio = hears ? voiceIn(request.messages, voiceOf) : [];
    const { user, served, meterOf } = this.#deps;
    const asked: LlmRequest = {
      ...rest,
      language,
      servedBy: (engine) => served?.(this.#events.request(id), engine),
      ...(audio.length === 0 ? {} : { audio }),
      ...(user === undefined ? {} : { user }),
      ...(meterOf === undefined ? {} : { meter: meterOf(id) }),
    };
    this.#run(id, asked, controller).catch(this.#deps.faulted);
  }

  /** Nothing is posted about the generation afterwards. Idempotent. */
  abort(id: number): void {
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  close(): void {
    for (const id of this.#running.keys()) this.abort(id);
  }

  async #run(id: number, request: LlmRequest, controller: AbortController): Promise<void> {
    const { signal } = controller;
    let finished = false;
    let toolCalls = 0;
    try {
      const parts = this.#deps.llm.generate(request, signal);
      for await (const part of parts) {
        if (signal.aborted) return;
        switch (part.type) {
          case "text-delta":
            if (part.text !== "") this.#deps.post(this.#events.text(id, part.text));
            break;
          case "tool-call-delta":
            break;
          case "finish":
            finished = true;
            this.#end(id, controller);
            this.#deps.post(this.#events.finished(id, finishOf(part)));
            return;
          case "tool-call": {
            const { checkArguments } = this.#deps;
            const checked = await checkToolCall(part.call, toolCalls, request.tools, checkArguments);
            if (signal.aborted) return;
            this.#deps.post(this.#events.called(id, checked));
            toolCalls += 1;
            break;
          }
        }
      }
      throw new Error("the model's stream ended early");
    } catch (error) {
      if (signal.aborted || finished) return;
      this.#end(id, controller);
      this.#deps.post(this.#events.failed(id, { error: messageOf(error), ...failureKind(error) }));
    }
  }

  #end(id: number, controller: AbortController): void {
    if (this.#running.get(id) === controller) this.#running.delete(id);
  }
}

function finishOf({ inputTokens, outputTokens, cachedInputTokens }: Finish): Finish {
  return { inputTokens, outputTokens, ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }) };
}
