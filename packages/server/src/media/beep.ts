/**
 * Finds the beep after which an answering machine records: one steady tone of 0.16 to 1.5 s. A tone satisfies
 * x[n] = 2 cos(w) x[n-1] - x[n-2]; the least squares give w, and what is left says how much else there is.
 */

import { frameSamples } from "./frame.ts";

/** Beeps of machines and networks; the tones of a busy or a free line are below. */
const LOWEST_HZ = 500;
const HIGHEST_HZ = 2_600;
/** Tones up to half of this are told apart, whatever the rate of the line. */
const STEPS_HZ = 8_000;
/** Blocks of 20 ms in a row: shorter ones are clicks, longer ones no beeps. */
const LEAST_BLOCKS = 8;
const MOST_BLOCKS = 75;
/** Share of the energy that is no tone. Vowels have more, because of their harmonics. */
const REST_SHARE = 0.05;
/** The frequency of a beep stays; that of a voice moves by more within 160 ms. */
const DRIFT_SHARE = 0.02;
/** Below -40 dBFS nothing counts. */
const LEAST_MEAN_SQUARE = (32_768 * 0.01) ** 2;

export class BeepDetector {
  readonly #rateHz: number;
  readonly #block: number;
  /** Of the tone that sounds; null: none does. */
  #hz: number | null = null;
  #blocks = 0;
  #held = new Int16Array();

  constructor(sampleRateHz: number) {
    this.#rateHz = sampleRateHz;
    this.#block = frameSamples(sampleRateHz);
  }

  /** True: a beep has ended within these samples. Pieces of any length. */
  push(samples: Int16Array): boolean {
    const all = new Int16Array(this.#held.length + samples.length);
    all.set(this.#held);
    all.set(samples, this.#held.length);
    let hasEnded = false;
    let at = 0;
    for (; at + this.#block <= all.length; at += this.#block)
      if (this.#next(toneIn(all.subarray(at, at + this.#block), this.#rateHz))) hasEnded = true;
    this.#held = all.slice(at);
    return hasEnded;
  }

  #next(hz: number | null): boolean {
    if (hz !== null && this.#hz !== null && Math.abs(hz - this.#hz) <= DRIFT_SHARE * this.#hz) {
      this.#blocks += 1;
      return false;
    }
    const isBeep = this.#blocks >= LEAST_BLOCKS && this.#blocks <= MOST_BLOCKS;
    this.#hz = hz;
    this.#blocks = hz === null ? 0 : 1;
    return isBeep;
  }
}

/** The frequency of a block that holds one tone; null: it does not. */
function toneIn(block: Int16Array, rateHz: number): number | null {
  const step = rateHz / STEPS_HZ;
  // Two tones differ more over two steps: 5 % of the energy is far below what a pair of tones leaves.
  const { energy, rest } = fitted(block, 2 * step);
  if (energy < LEAST_MEAN_SQUARE || rest > REST_SHARE * energy) return null;
  const { factor } = fitted(block, step);
  if (Math.abs(factor) >= 2) return null;
  const hz = (Math.acos(factor / 2) * STEPS_HZ) / (2 * Math.PI);
  return hz < LOWEST_HZ || hz > HIGHEST_HZ ? null : hz;
}

/** The least squares of x[n+step] + x[n-step] = factor x[n]. White noise of the energy e leaves e. */
function fitted(
  block: Int16Array,
  step: number,
): { readonly factor: number; readonly energy: number; readonly rest: number } {
  let [energy, cross, sides, count] = [0, 0, 0, 0];
  for (let n = step; n + step < block.length; n += 1) {
    const now = block[n] ?? 0;
    const both = (block[n - step] ?? 0) + (block[n + step] ?? 0);
    energy += now * now;
    cross += both * now;
    sides += both * both;
    count += 1;
  }
  if (energy === 0) return { factor: 0, energy: 0, rest: 0 };
  const factor = cross / energy;
  const rest = (sides - factor * cross) / (2 + factor * factor);
  return { factor, energy: energy / count, rest: rest / count };
}
