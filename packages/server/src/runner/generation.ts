/** Replies that the language model is writing. */

import type { ReplyRequest } from "../call/effects.ts";
import type { CallEngineEventBody } from "../call/events.ts";
import type { LlmEngine } from "../ports/llm.ts";

export class Generations {
  readonly #llm: LlmEngine;
  readonly #post: (event: CallEngineEventBody) => void;
  readonly #faulted: (error: unknown) => void;
  readonly #running = new Map<number, AbortController>();

  /** @param faulted called for a throw where nothing but a mistake of ours can throw */
  constructor(llm: LlmEngine, post: (event: CallEngineEventBody) => void, faulted: (error: unknown) => void) {
    this.#llm = llm;
    this.#post = post;
    this.#faulted = faulted;
  }

  start(replyId: number, request: ReplyRequest): void {
    this.abort(replyId);
    const controller = new AbortController();
    this.#running.set(replyId, controller);
    this.#run(replyId, request, controller).catch(this.#faulted);
  }

  /** Nothing is posted about the reply afterwards. Idempotent. */
  abort(replyId: number): void {
    this.#running.get(replyId)?.abort();
    this.#running.delete(replyId);
  }

  close(): void {
    for (const replyId of this.#running.keys()) this.abort(replyId);
  }

  async #run(replyId: number, request: ReplyRequest, controller: AbortController): Promise<void> {
    const { signal } = controller;
    const { languageHint, ...rest } = request;
    let finished = false;
    try {
      const parts = this.#llm.generate({ ...rest, language: languageHint }, signal);
      for await (const part of parts) {
        if (signal.aborted) return;
        switch (part.type) {
          case "text-delta":
            if (part.text !== "") this.#post({ type: "replyTextReceived", replyId, text: part.text });
            break;
          case "finish":
            finished = true;
            this.#end(replyId, controller);
            this.#post({
              type: "replyTextFinished",
              replyId,
              inputTokens: part.inputTokens,
              outputTokens: part.outputTokens,
            });
            return;
          case "tool-call":
            // No tools were offered: a model that invents one has made a mistake, and its text is worth keeping.
            break;
        }
      }
      throw new Error("the model's stream ended early");
    } catch (error) {
      if (signal.aborted || finished) return;
      this.#end(replyId, controller);
      const message = error instanceof Error ? error.message : String(error);
      this.#post({ type: "replyFailed", replyId, error: message });
    }
  }

  #end(replyId: number, controller: AbortController): void {
    if (this.#running.get(replyId) === controller) this.#running.delete(replyId);
  }
}
