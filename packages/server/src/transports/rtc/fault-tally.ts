/** Counts errors, of which at most one report a minute is made. */

/** From one report to the next. */
const REPORT_INTERVAL_MS = 60_000;

export class FaultTally {
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #count = 0;

  /** How many to report now, with this one; null: none, because the last report is less than a minute old. */
  add(nowMs: number): number | null {
    this.#count += 1;
    if (nowMs - this.#reportedAtMs < REPORT_INTERVAL_MS) return null;
    const count = this.#count;
    this.#reportedAtMs = nowMs;
    this.#count = 0;
    return count;
  }
}
