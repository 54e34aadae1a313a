/** Time that passes only when a test says so, for adapters whose network is real. */

import type { Clock } from "../../pacing/clock.ts";

interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

export class ManualTimers implements Pick<Clock, "nowMs" | "after"> {
  #nowMs = 0;
  #timers: Timer[] = [];

  readonly nowMs = (): number => this.#nowMs;

  readonly after = (delayMs: number, fire: () => void): (() => void) => {
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  get count(): number {
    return this.#timers.length;
  }

  /** Fires what is due until then, in its order. */
  pass(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const next = this.#timers
        .filter(({ dueMs }) => dueMs <= endMs)
        .toSorted((one, other) => one.dueMs - other.dueMs)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.fire();
    }
    this.#nowMs = endMs;
  }
}
