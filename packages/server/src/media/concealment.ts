/**
 * Conceals lost packets of codecs that cannot do it themselves (G.711, G.722): the last period of the voice is repeated
 * and becomes silent, as in ITU-T G.711, appendix I, without its delay.
 */

import { frameSamples, msToSamples } from "./frame.ts";

/** Periods of voices: 66 to 400 Hz. */
const SHORTEST_PERIOD_MS = 2.5;
const LONGEST_PERIOD_MS = 15;
/** Of the sound that is compared with itself to find the period. */
const TEMPLATE_MS = 10;
/** The sound is as loud as before for this long, and silent at `SILENT_AFTER_MS`. */
const FULL_UNTIL_MS = 10;
const SILENT_AFTER_MS = 60;
/** From what was made up to what has come. */
const JOIN_MS = 5;
/** Steps of the search, which is refined around its best: a fifth of the work, and no difference that is heard. */
const SEARCH_STEP = 4;

export class Concealment {
  readonly #rateHz: number;
  readonly #frame: number;
  readonly #history: Int16Array;
  /** Samples made up since the last one that has come. */
  #made = 0;
  #period = 0;

  constructor(sampleRateHz: number) {
    this.#rateHz = sampleRateHz;
    this.#frame = frameSamples(sampleRateHz);
    this.#history = new Int16Array(msToSamples(LONGEST_PERIOD_MS + TEMPLATE_MS, sampleRateHz));
  }

  /** Samples that have come; the beginning is changed where something was made up before them. */
  received(samples: Int16Array): Int16Array {
    if (this.#made > 0) this.#join(samples);
    this.#made = 0;
    this.#keep(samples);
    return samples;
  }

  /** A frame in place of a lost one. */
  made(): Int16Array {
    if (this.#made === 0) this.#period = this.#findPeriod();
    const frame = new Int16Array(this.#frame);
    this.#continue(frame);
    return frame;
  }

  #keep(samples: Int16Array): void {
    const history = this.#history;
    if (samples.length >= history.length) {
      history.set(samples.subarray(samples.length - history.length));
      return;
    }
    history.copyWithin(0, samples.length);
    history.set(samples, history.length - samples.length);
  }

  /** Fills `into` with what follows the history, which stays as it came. */
  #continue(into: Int16Array): void {
    const history = this.#history;
    const from = history.length - this.#period;
    const full = msToSamples(FULL_UNTIL_MS, this.#rateHz);
    const fading = msToSamples(SILENT_AFTER_MS, this.#rateHz) - full;
    for (let i = 0; i < into.length; i += 1) {
      const at = this.#made + i;
      const gain = at < full ? 1 : Math.max(0, 1 - (at - full) / fading);
      into[i] = Math.round(history[from + (at % this.#period)]! * gain);
    }
    this.#made += into.length;
  }

  #join(samples: Int16Array): void {
    const count = Math.min(samples.length, msToSamples(JOIN_MS, this.#rateHz));
    const tail = new Int16Array(count);
    this.#continue(tail);
    for (let i = 0; i < count; i += 1) {
      const share = (i + 1) / (count + 1);
      samples[i] = Math.round(samples[i]! * share + tail[i]! * (1 - share));
    }
  }

  /** The distance at which the end of the history is most like itself. */
  #findPeriod(): number {
    const shortest = msToSamples(SHORTEST_PERIOD_MS, this.#rateHz);
    const longest = msToSamples(LONGEST_PERIOD_MS, this.#rateHz);
    let best = longest;
    let most = Number.NEGATIVE_INFINITY;
    const consider = (period: number): void => {
      const likeness = this.#likeness(period);
      if (likeness <= most) return;
      most = likeness;
      best = period;
    };
    for (let period = shortest; period <= longest; period += SEARCH_STEP) consider(period);
    const around = best;
    for (let period = around - SEARCH_STEP + 1; period < around + SEARCH_STEP; period += 1) {
      if (period >= shortest && period <= longest) consider(period);
    }
    return best;
  }

  #likeness(period: number): number {
    const history = this.#history;
    const template = msToSamples(TEMPLATE_MS, this.#rateHz);
    const start = history.length - template;
    let product = 0;
    let energy = 1;
    for (let i = start; i < history.length; i += 2) {
      const before = history[i - period]!;
      product += history[i]! * before;
      energy += before * before;
    }
    return product / Math.sqrt(energy);
  }
}
