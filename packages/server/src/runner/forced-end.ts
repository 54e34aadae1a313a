/** Ends a call whose engine has failed, or does not end it when it is asked to. */

import { messageOf } from "../pacing/error-text.ts";
import type { Clock } from "../pacing/clock.ts";
import { END_LIMIT_MS, endOfRequest, failedEnd, FAULT_LIMIT_MS, type EndCall } from "./call-ends.ts";
import type { CallEngineEventBody } from "../call/events.ts";

export interface ForcedEndDeps {
  readonly clock: Pick<Clock, "after">;
  readonly isOver: () => boolean;
  readonly post: (event: CallEngineEventBody) => void;
  /** Called once, with the first failure. */
  readonly record: (error: unknown) => void;
  readonly end: (end: EndCall) => void;
}

export class ForcedEnd {
  readonly #deps: ForcedEndDeps;
  #faulted = false;
  #cancelLimit: (() => void) | null = null;

  constructor(deps: ForcedEndDeps) {
    this.#deps = deps;
  }

  /** After a failure that must not happen. */
  fault(error: unknown): void {
    if (this.#deps.isOver()) return;
    if (this.#faulted) {
      this.giveUp(error);
      return;
    }
    this.#faulted = true;
    this.#deps.record(error);
    this.#after(FAULT_LIMIT_MS, () => this.giveUp(error));
    this.#deps.post({ type: "faulted", error: messageOf(error) });
  }

  /** Requests the end from the engine, and ends the call itself when the engine does not. */
  request(cause: "hangup" | "shutdown"): void {
    this.#deps.post({ type: "endRequested", cause });
    if (this.#deps.isOver()) return;
    this.#after(END_LIMIT_MS, () => this.#deps.end(endOfRequest(cause)));
  }

  /** For when the engine can no longer end the call. */
  giveUp(error: unknown): void {
    if (this.#deps.isOver()) return;
    if (!this.#faulted) this.#deps.record(error);
    this.#deps.end(failedEnd(messageOf(error)));
  }

  /** Idempotent. */
  close(): void {
    this.#cancelLimit?.();
  }

  #after(limitMs: number, act: () => void): void {
    this.#cancelLimit?.();
    this.#cancelLimit = this.#deps.clock.after(limitMs, act);
  }
}
