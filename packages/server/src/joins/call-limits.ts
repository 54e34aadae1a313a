/** How often something may be done for one call. */

export interface Limit {
  readonly count: number;
  readonly windowMs: number;
}

/** Calls with times between two removals of those that count no more. */
const REMOVAL_INTERVAL = 256;

/**
 * Counts in a window that slides. A call that does nothing for one window is forgotten, so the memory is bounded by the
 * calls that are live: nothing is counted for others.
 */
export class CallLimit {
  readonly #limit: Limit;
  readonly #times = new Map<string, number[]>();
  #takenSinceRemoval = 0;

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  /** 0: it may be done, and counts. Otherwise the wait until it may, which does not count. */
  take(callId: string, nowMs: number): number {
    const { count, windowMs } = this.#limit;
    const times = (this.#times.get(callId) ?? []).filter((atMs) => atMs > nowMs - windowMs);
    const [first] = times;
    if (first !== undefined && times.length >= count) return first + windowMs - nowMs;
    times.push(nowMs);
    this.#times.set(callId, times);
    this.#takenSinceRemoval += 1;
    if (this.#takenSinceRemoval >= REMOVAL_INTERVAL) this.#remove(nowMs);
    return 0;
  }

  /** The last one did not take place. */
  giveBack(callId: string): void {
    this.#times.get(callId)?.pop();
  }

  /** Calls that are remembered. */
  get size(): number {
    return this.#times.size;
  }

  #remove(nowMs: number): void {
    this.#takenSinceRemoval = 0;
    for (const [callId, times] of this.#times) {
      if ((times.at(-1) ?? 0) <= nowMs - this.#limit.windowMs) this.#times.delete(callId);
    }
  }
}
