/** Bounds how fast keys come: faster than anyone presses them is a fault or an attack. Time comes in as a number. */

/** People press up to 10 keys a second, and diallers 12. More are dropped. */
export const DIGITS_PER_SECOND = 20;

export class DigitLimit {
  #count = 0;
  #fromMs = Number.NEGATIVE_INFINITY;

  /** Whether one more key is allowed. */
  admits(nowMs: number): boolean {
    if (nowMs - this.#fromMs >= 1_000) {
      this.#fromMs = nowMs;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count <= DIGITS_PER_SECOND;
  }
}
