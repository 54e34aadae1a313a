/**
 * How long to wait for an answer whose usual delay was measured: mean and deviation as in the retransmission timer of
 * TCP (RFC 6298), so that the limit follows a server that becomes slower and a late answer does not move it far.
 */

/** Weights of the newest measurement, as in RFC 6298. */
const MEAN_WEIGHT = 1 / 8;
const DEVIATION_WEIGHT = 1 / 4;
const DEVIATIONS = 4;

export interface DelayLimits {
  /** Before the first measurement. */
  readonly initialMs: number;
  readonly shortestMs: number;
  readonly longestMs: number;
}

export class DelayEstimate {
  readonly #limits: DelayLimits;
  #meanMs: number | null = null;
  #deviationMs = 0;

  constructor(limits: DelayLimits) {
    this.#limits = limits;
  }

  /** Null: nothing was measured yet. */
  get meanMs(): number | null {
    return this.#meanMs;
  }

  add(delayMs: number): void {
    if (this.#meanMs === null) {
      this.#meanMs = delayMs;
      this.#deviationMs = delayMs / 2;
      return;
    }
    const error = delayMs - this.#meanMs;
    this.#deviationMs += DEVIATION_WEIGHT * (Math.abs(error) - this.#deviationMs);
    this.#meanMs += MEAN_WEIGHT * error;
  }

  /** No answer came within the limit: the server may have become that slow, so the next wait is longer. */
  missed(): void {
    this.add(this.limitMs());
  }

  limitMs(): number {
    const { initialMs, shortestMs, longestMs } = this.#limits;
    if (this.#meanMs === null) return initialMs;
    return Math.min(Math.max(this.#meanMs + DEVIATIONS * this.#deviationMs, shortestMs), longestMs);
  }
}
