/** Cuts a stream of samples into windows of one length. */

export class Framer {
  readonly #window: Int16Array;
  #filled = 0;

  /** @param windowSamples length of every window */
  constructor(windowSamples: number) {
    if (!Number.isInteger(windowSamples) || windowSamples < 1) {
      throw new RangeError(`a window of ${String(windowSamples)} samples cannot be cut`);
    }
    this.#window = new Int16Array(windowSamples);
  }

  /** Samples that wait for the rest of their window. */
  get pending(): number {
    return this.#filled;
  }

  /** Calls `take` for each window that is complete; the window is valid only during that call. */
  push(samples: Int16Array, take: (window: Int16Array) => void): void {
    const size = this.#window.length;
    let offset = 0;
    while (offset < samples.length) {
      if (this.#filled === 0 && samples.length - offset >= size) {
        take(samples.subarray(offset, offset + size));
        offset += size;
        continue;
      }
      const count = Math.min(size - this.#filled, samples.length - offset);
      this.#window.set(samples.subarray(offset, offset + count), this.#filled);
      this.#filled += count;
      offset += count;
      if (this.#filled === size) {
        this.#filled = 0;
        take(this.#window);
      }
    }
  }
}
