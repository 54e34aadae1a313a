/** The audio of an open utterance, for recognisers that send all of it again. */

import { STT_MAX_UTTERANCE_MS, STT_SAMPLE_RATE_HZ } from "../ports/stt.ts";

const MAX_UTTERANCE_SAMPLES = (STT_MAX_UTTERANCE_MS * STT_SAMPLE_RATE_HZ) / 1_000;

/** Audio is stored in arrays of one second, so that a frame of 20 ms costs a copy and no allocation. */
const CHUNK_SAMPLES = STT_SAMPLE_RATE_HZ;

/** The audio of one utterance, limited to the newest minute. */
export class UtteranceAudio {
  /** All full but the last. */
  readonly #chunks: Int16Array[] = [];
  /** Samples of the first chunk that are too old. */
  #dropped = 0;
  /** Samples of all chunks, those that are too old included. */
  #filled = 0;

  push(samples: Int16Array): void {
    for (let taken = 0; taken < samples.length;) {
      const at = this.#filled % CHUNK_SAMPLES;
      if (at === 0) this.#chunks.push(new Int16Array(CHUNK_SAMPLES));
      const part = samples.subarray(taken, taken + CHUNK_SAMPLES - at);
      this.#chunks.at(-1)?.set(part, at);
      this.#filled += part.length;
      taken += part.length;
      this.#dropped = Math.max(this.#dropped, this.#filled - MAX_UTTERANCE_SAMPLES);
      if (this.#dropped < CHUNK_SAMPLES) continue;
      // A part is at most one chunk long, so no more than one can have become too old.
      this.#chunks.shift();
      this.#dropped -= CHUNK_SAMPLES;
      this.#filled -= CHUNK_SAMPLES;
    }
  }

  /** Samples that are kept. */
  get length(): number {
    return this.#filled - this.#dropped;
  }

  /** A new array. */
  join(): Int16Array {
    const all = new Int16Array(this.#filled - this.#dropped);
    for (const [index, chunk] of this.#chunks.entries()) {
      const start = index === 0 ? this.#dropped : 0;
      const at = index * CHUNK_SAMPLES;
      all.set(chunk.subarray(start, this.#filled - at), at + start - this.#dropped);
    }
    return all;
  }
}
