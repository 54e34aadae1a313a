/** Refuses a request that was accepted before: its nonce is remembered for as long as its time is accepted. */

/** A request is accepted this long before and after its time; the clocks of both are that of the database. */
export const WINDOW_MS = 30_000;
/** 3,000 requests a second for the whole window, 20 MB. */
const MAX_NONCES = 200_000;

export class SeenNonces {
  readonly #until = new Map<string, number>();
  readonly #limit: number;

  constructor(limit = MAX_NONCES) {
    this.#limit = limit;
  }

  /** `seen`: it was presented before. `full`: there are too many to remember one more. */
  take(nonce: string, atMs: number, nowMs: number): "new" | "seen" | "full" {
    // In the order of their insertion, which is that of their times but for some seconds.
    for (const [old, untilMs] of this.#until) {
      if (untilMs >= nowMs) break;
      this.#until.delete(old);
    }
    if (this.#until.has(nonce)) return "seen";
    if (this.#until.size >= this.#limit) return "full";
    // One from the future stays valid for longer.
    this.#until.set(nonce, Math.max(atMs, nowMs) + WINDOW_MS);
    return "new";
  }

  get size(): number {
    return this.#until.size;
  }
}

/** Whether the time of a request is one of now. */
export function isTimely(atMs: number, nowMs: number): boolean {
  return Math.abs(atMs - nowMs) <= WINDOW_MS;
}
