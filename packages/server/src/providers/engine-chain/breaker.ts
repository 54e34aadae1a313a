/** Decides, for all calls together, whether an engine of a list is used: the health of one engine and voice or model. */

import type { Clock } from "../../pacing/clock.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";

/** One failure may be chance, and two may be one fault of the network. */
export const FAILURES_MAX = 3;
/** Failures that lie further apart do not add up. */
export const FAILURE_WINDOW_MS = 30_000;
/** A server that restarts needs some seconds; a call must not try it with every sentence. */
export const FIRST_REST_MS = 10_000;
/** Somebody has to change a key or a name first. */
export const PERMANENT_REST_MS = 60_000;
/** The rest doubles with each probe that fails, up to this. */
export const LONGEST_REST_MS = 300_000;

/** `due`: its rest is over, and one request may probe it. */
export type BreakerState = "closed" | "open" | "due";

/** One request to the engine. It is settled once; later calls count for nothing. */
export interface Use {
  succeeded(): void;
  failed(error: Error): void;
  /** It was given up for a reason that says nothing about the engine. */
  dropped(): void;
}

export class Breaker {
  readonly #clock: Pick<Clock, "nowMs">;
  /** Times of the failures since the latest success, within the window. */
  #failuresAtMs: number[] = [];
  #rest: { readonly untilMs: number; readonly lengthMs: number } | null = null;
  #probes = 0;
  /** The latest failure since the latest success. */
  lastError: Error | null = null;

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  get state(): BreakerState {
    if (this.#rest === null) return "closed";
    return this.#clock.nowMs() >= this.#rest.untilMs && this.#probes === 0 ? "due" : "open";
  }

  /** When its rest is over; 0: it has none. */
  get restUntilMs(): number {
    return this.#rest?.untilMs ?? 0;
  }

  begin(): Use {
    const isProbe = this.#rest !== null;
    let isSettled = false;
    const settle = (act: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      if (isProbe) this.#probes -= 1;
      act();
    };
    if (isProbe) this.#probes += 1;
    return {
      succeeded: () => settle(() => this.#succeeded()),
      failed: (error) => settle(() => this.#failed(error, isProbe)),
      dropped: () => settle(() => undefined),
    };
  }

  #succeeded(): void {
    this.#failuresAtMs = [];
    this.#rest = null;
    this.lastError = null;
  }

  #failed(error: Error, isProbe: boolean): void {
    const nowMs = this.#clock.nowMs();
    const isPermanent = error instanceof EngineFailure && error.isPermanent;
    this.lastError = error;
    this.#failuresAtMs = [...this.#failuresAtMs, nowMs]
      .filter((atMs) => nowMs - atMs < FAILURE_WINDOW_MS)
      .slice(-FAILURES_MAX);
    const least = isPermanent ? PERMANENT_REST_MS : FIRST_REST_MS;
    if (isProbe) this.#restFor(Math.max(least, 2 * (this.#rest?.lengthMs ?? 0)));
    else if (isPermanent || this.#failuresAtMs.length >= FAILURES_MAX) this.#restFor(least);
  }

  #restFor(wantedMs: number): void {
    const lengthMs = Math.min(wantedMs, LONGEST_REST_MS);
    this.#rest = { untilMs: this.#clock.nowMs() + lengthMs, lengthMs };
  }
}
