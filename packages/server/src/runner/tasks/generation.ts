/** Replies that the language model is writing. */

import type { ReplyRequest } from "../../call/effects.ts";
import type { CallEngineEventBody } from "../../call/events.ts";
import { failureKind } from "../../ports/engine-failure.ts";
import type { EngineUser } from "../../ports/engine-steps.ts";
import type { LlmEngine, LlmRequest } from "../../ports/llm.ts";
import { checkToolCall, type CheckArguments } from "./tool-call-check.ts";
import { voiceIn, type VoiceOf } from "./voice-input.ts";
import { messageOf } from "../../pacing/error-text.ts";

export interface GenerationsDeps {
  readonly llm: LlmEngine;
  readonly user?: EngineUser;
  readonly checkArguments: CheckArguments;
  readonly post: (event: CallEngineEventBody) => void;
  /** Called for a throw that only a bug of ours can cause. */
  readonly faulted: (error: unknown) => void;
}

export class Generations {
  readonly #deps: GenerationsDeps;
  readonly #running = new Map<number, AbortController>();

  constructor(deps: GenerationsDeps) {
    this.#deps = deps;
  }

  /** @param voiceOf 16 kHz mono audio of an utterance, for a model that hears it; null: it is no longer there */
  start(replyId: number, request: ReplyRequest, voiceOf: VoiceOf = () => null): void {
    this.abort(replyId);
    const controller = new AbortController();
    this.#running.set(replyId, controller);
    const { languageHint: language, ...rest } = request;
    // Messages of an earlier stage may name utterances although the model of this one does not hear.
    const hears = this.#deps.llm.takesAudio?.(request.model) === true;
    const audio = hears ? voiceIn(request.messages, voiceOf) : [];
    const { user } = this.#deps;
    const asked = {
      ...rest,
      language,
      ...(audio.length === 0 ? {} : { audio }),
      ...(user === undefined ? {} : { user }),
    };
    this.#run(replyId, asked, controller).catch(this.#deps.faulted);
  }

  /** Nothing is posted about the reply afterwards. Idempotent. */
  abort(replyId: number): void {
    this.#running.get(replyId)?.abort();
    this.#running.delete(replyId);
  }

  close(): void {
    for (const replyId of this.#running.keys()) this.abort(replyId);
  }

  async #run(replyId: number, request: LlmRequest, controller: AbortController): Promise<void> {
    const { signal } = controller;
    let finished = false;
    let toolCalls = 0;
    try {
      const parts = this.#deps.llm.generate(request, signal);
      for await (const part of parts) {
        if (signal.aborted) return;
        switch (part.type) {
          case "text-delta":
            if (part.text !== "") this.#deps.post({ type: "replyTextReceived", replyId, text: part.text });
            break;
          case "finish":
            finished = true;
            this.#end(replyId, controller);
            this.#deps.post({
              type: "replyTextFinished",
              replyId,
              inputTokens: part.inputTokens,
              outputTokens: part.outputTokens,
              ...(part.cachedInputTokens === undefined ? {} : { cachedInputTokens: part.cachedInputTokens }),
            });
            return;
          case "tool-call": {
            const { checkArguments } = this.#deps;
            const checked = await checkToolCall(part.call, toolCalls, request.tools, checkArguments);
            if (signal.aborted) return;
            this.#deps.post({ type: "replyToolCalled", replyId, ...checked });
            toolCalls += 1;
            break;
          }
        }
      }
      throw new Error("the model's stream ended early");
    } catch (error) {
      if (signal.aborted || finished) return;
      this.#end(replyId, controller);
      const message = messageOf(error);
      this.#deps.post({ type: "replyFailed", replyId, error: message, ...failureKind(error) });
    }
  }

  #end(replyId: number, controller: AbortController): void {
    if (this.#running.get(replyId) === controller) this.#running.delete(replyId);
  }
}
