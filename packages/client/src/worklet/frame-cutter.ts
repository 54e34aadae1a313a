/** Cuts a stream of samples into frames of 16-bit numbers, as a websocket sends them. */

export class FrameCutter {
  readonly #cut: (frame: Int16Array) => void;
  readonly #samples: number;
  #frame: Int16Array;
  #filled = 0;

  /** @param cut called with each frame; the frame is not reused */
  constructor(samples: number, cut: (frame: Int16Array) => void) {
    this.#samples = samples;
    this.#cut = cut;
    this.#frame = new Int16Array(samples);
  }

  push(samples: Float32Array): void {
    for (const sample of samples) {
      this.#frame[this.#filled] = Math.round(Math.min(1, Math.max(-1, sample)) * 32_767);
      this.#filled += 1;
      if (this.#filled < this.#samples) continue;
      this.#cut(this.#frame);
      this.#frame = new Int16Array(this.#samples);
      this.#filled = 0;
    }
  }
}

export function floatsOf(samples: Int16Array): Float32Array {
  return Float32Array.from(samples, (sample) => sample / 32_768);
}
