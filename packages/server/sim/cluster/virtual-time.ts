/** Time of a simulated cluster: it stands still while something runs, and then goes on to what is due next. */

interface Due {
  readonly atMs: number;
  /** Of two that are due at the same time the one that was asked for first comes first. */
  readonly order: number;
  readonly run: () => void;
}

export class VirtualTime {
  #nowMs = 0;
  #orders = 0;
  /** Soonest last. */
  readonly #due: Due[] = [];

  /** Since the start of the cluster. */
  nowMs(): number {
    return this.#nowMs;
  }

  /** Returns a function that cancels it. */
  after(delayMs: number, run: () => void): () => void {
    const due: Due = { atMs: this.#nowMs + Math.max(0, delayMs), order: (this.#orders += 1), run };
    let low = 0;
    let high = this.#due.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#due[middle];
      // Of the same time, this one comes after those that are there.
      if (other !== undefined && other.atMs > due.atMs) low = middle + 1;
      else high = middle;
    }
    this.#due.splice(low, 0, due);
    return () => {
      const place = this.#due.indexOf(due);
      if (place !== -1) this.#due.splice(place, 1);
    };
  }

  /** Goes on to what is due next, and runs it. False: nothing is due before `untilMs`, at which it is now. */
  step(untilMs: number): boolean {
    const next = this.#due.at(-1);
    if (next === undefined || next.atMs > untilMs) {
      this.#nowMs = Math.max(this.#nowMs, untilMs);
      return false;
    }
    this.#due.pop();
    this.#nowMs = next.atMs;
    next.run();
    return true;
  }
}
