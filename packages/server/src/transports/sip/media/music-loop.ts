/** Samples that are played again and again, such as hold music. Pure. */

export class MusicLoop {
  #samples: Int16Array | null = null;
  #at = 0;

  /** @param samples at the rate of the stream; null or empty: nothing is played */
  set(samples: Int16Array | null): void {
    this.#samples = samples === null || samples.length === 0 ? null : samples;
    this.#at = 0;
  }

  /** The next samples, which go on at the beginning after the end; null: nothing is played. */
  next(length: number): Int16Array | null {
    const samples = this.#samples;
    if (samples === null) return null;
    const frame = new Int16Array(length);
    for (let filled = 0; filled < length;) {
      const part = samples.subarray(this.#at, this.#at + length - filled);
      frame.set(part, filled);
      filled += part.length;
      this.#at = (this.#at + part.length) % samples.length;
    }
    return frame;
  }
}
