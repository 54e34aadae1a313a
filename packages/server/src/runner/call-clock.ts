/** The clock of one call, in the engine's time, and the timers that the engine has set. */

import type { Clock } from "../pacing/clock.ts";

export class CallClock {
  readonly #clock: Clock;
  readonly #originMs: number;
  readonly #originWallMs: number;
  readonly #fired: (timerId: number) => void;
  readonly #timers = new Map<number, () => void>();
  #lastAtMs = 0;

  /**
   * @param createdAt of the call; no time of it is earlier
   * @param fired not called for a timer that was cancelled or replaced
   * @param fromMs the engine's time now, where another process had the call before
   */
  constructor(clock: Clock, createdAt: Date, fired: (timerId: number) => void, fromMs = 0) {
    this.#clock = clock;
    this.#originMs = clock.nowMs() - fromMs;
    this.#lastAtMs = fromMs;
    // A call resumed by a restart is older than this runner; and no record is older than the creation.
    this.#originWallMs = Math.max(createdAt.getTime(), clock.wallMs() - fromMs);
    this.#fired = fired;
  }

  /** Milliseconds since the first runner of the call was created; never decreases. */
  atMs(): number {
    // Whole milliseconds: enough for every decision, and small integers keep events cheap.
    this.#lastAtMs = Math.max(this.#lastAtMs, Math.floor(this.#clock.nowMs() - this.#originMs));
    return this.#lastAtMs;
  }

  wallClock(atMs: number): Date {
    return new Date(this.#originWallMs + atMs);
  }

  /** Wall clock of the latest event. */
  lastEventAt(): Date {
    return this.wallClock(this.#lastAtMs);
  }

  /** Replaces a timer of the same id. */
  setTimer(timerId: number, delayMs: number): void {
    const dueAtMs = this.#lastAtMs + delayMs;
    this.#timers.get(timerId)?.();
    const cancel = this.#clock.after(delayMs, () => {
      this.#timers.delete(timerId);
      // The machine's timers may fire a fraction of a millisecond early; the engine counts the full delay.
      this.#lastAtMs = Math.max(this.#lastAtMs, dueAtMs);
      this.#fired(timerId);
    });
    this.#timers.set(timerId, cancel);
  }

  cancelTimer(timerId: number): void {
    this.#timers.get(timerId)?.();
    this.#timers.delete(timerId);
  }

  /** Cancels all timers. Idempotent. */
  close(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }
}
