/** How many rows one statement has, so that it takes about the same time on every machine. */

export interface PortionSizeOptions {
  /** The time that one portion should take. */
  readonly aimMs: number;
  /** Of the first portion. */
  readonly first: number;
  readonly most: number;
}

/** Of a change of the measured time per row, how much counts at once: one slow portion does not make the next ones tiny. */
const WEIGHT = 0.3;

export class PortionSize {
  readonly #options: PortionSizeOptions;
  readonly #nowMs: () => number;
  #rowMs: number;

  constructor(options: PortionSizeOptions, nowMs: () => number = () => performance.now()) {
    this.#options = options;
    this.#nowMs = nowMs;
    this.#rowMs = options.aimMs / options.first;
  }

  /** Rows of the next portion, at least 1. */
  get rows(): number {
    const { aimMs, most } = this.#options;
    return Math.max(1, Math.min(most, Math.round(aimMs / this.#rowMs)));
  }

  /** Runs a portion of `rows` rows and measures it. */
  async timed<Result>(rows: number, work: () => Promise<Result>): Promise<Result> {
    const startedMs = this.#nowMs();
    const result = await work();
    this.note(rows, this.#nowMs() - startedMs);
    return result;
  }

  /** A portion of `rows` rows took so long. */
  note(rows: number, tookMs: number): void {
    if (rows > 0) this.#rowMs += (Math.max(0.001, tookMs / rows) - this.#rowMs) * WEIGHT;
  }
}
