/** Timers that a test moves on. */

import type { Timers } from "../socket-request.ts";

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
}

export class ManualTimers implements Timers {
  #nowMs = 0;
  #timers: Timer[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, fire: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Fires what is due, in order. */
  pass(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#nowMs = next.atMs;
      next.fire();
    }
    this.#nowMs = endMs;
  }
}
