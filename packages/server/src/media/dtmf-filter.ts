/**
 * Replaces the tones of telephone keys by silence, so that a recogniser does not hear them as words. Looks at blocks of
 * 20 ms, without a delay: up to 16 ms at the beginning of a tone pass. Goertzel's measure: the energy of each of the
 * eight frequencies, compared with that of the whole block.
 */

import { COLUMNS_HZ, ROWS_HZ } from "./dtmf.ts";
import { frameSamples } from "./frame.ts";

/** Least share of the energy that the two strongest frequencies have. Vowels that hit two of them stay below 0.6. */
const TONE_SHARE = 0.8;
/** The same right after a block with a tone: its last part. */
const TAIL_SHARE = 0.25;
/** Tones below -40 dBFS: they would pass Q.24's least level, but no recogniser takes them for speech. */
const LEAST_MEAN_SQUARE = (32_768 * 0.01) ** 2;
/** One of the two is at most 8 dB stronger than the other (Q.24, twist). */
const MOST_TWIST = 10 ** 0.8;

export class ToneFilter {
  readonly #block: number;
  readonly #rows: readonly number[];
  readonly #columns: readonly number[];
  #inTone = false;

  constructor(sampleRateHz: number) {
    this.#block = frameSamples(sampleRateHz);
    const factor = (hz: number) => 2 * Math.cos((2 * Math.PI * hz) / sampleRateHz);
    this.#rows = ROWS_HZ.map(factor);
    this.#columns = COLUMNS_HZ.map(factor);
  }

  /** `samples` themselves where they have no tone, otherwise a copy. Pieces of any length; best are whole frames. */
  push(samples: Int16Array): Int16Array {
    let result = samples;
    for (let at = 0; at < samples.length; at += this.#block) {
      const block = samples.subarray(at, at + this.#block);
      // Too short for a measure: as the block before.
      if (block.length * 2 >= this.#block) this.#inTone = this.#hasTone(block);
      if (!this.#inTone) continue;
      if (result === samples) result = samples.slice();
      result.fill(0, at, at + block.length);
    }
    return result;
  }

  #hasTone(block: Int16Array): boolean {
    let energy = 0;
    for (let i = 0; i < block.length; i += 1) energy += block[i]! * block[i]!;
    if (energy < LEAST_MEAN_SQUARE * block.length) return false;
    const row = strongest(block, this.#rows);
    const column = strongest(block, this.#columns);
    const share = (row + column) / energy;
    if (this.#inTone && share >= TAIL_SHARE) return true;
    return share >= TONE_SHARE && row <= column * MOST_TWIST && column <= row * MOST_TWIST;
  }
}

/** The energy of the strongest of these frequencies in the block. */
function strongest(block: Int16Array, factors: readonly number[]): number {
  let most = 0;
  for (const factor of factors) {
    let last = 0;
    let before = 0;
    for (let i = 0; i < block.length; i += 1) {
      const next = block[i]! + factor * last - before;
      before = last;
      last = next;
    }
    most = Math.max(most, last * last + before * before - factor * last * before);
  }
  return (2 * most) / block.length;
}
