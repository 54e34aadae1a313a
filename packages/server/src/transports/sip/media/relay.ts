/** What one leg hears, sent by another leg of the same thread: at its rate, in its frames, with its codec. */

import { frameSamples } from "../../../media/frame.ts";
import { Framer } from "../../../media/framer.ts";
import { Resampler } from "../../../media/resample.ts";

/**
 * Frames that wait in the other leg: 100 ms. Both sides have clocks of their own, so a stream that is faster than the
 * other would wait longer and longer; beyond this a frame is left out.
 */
export const MOST_RELAYED_FRAMES = 5;

export interface RelayTarget {
  readonly outputSampleRateHz: number;
  /** One frame of what the other side of the bridge says. False: it was left out. */
  relayed(frame: Int16Array): boolean;
  sendDigits?(digits: string): void;
}

export class Relay {
  readonly #to: RelayTarget;
  readonly #resampler: Resampler | null;
  readonly #framer: Framer;

  constructor(fromHz: number, to: RelayTarget) {
    const toHz = to.outputSampleRateHz;
    this.#to = to;
    this.#resampler = fromHz === toHz ? null : new Resampler(fromHz, toHz);
    this.#framer = new Framer(frameSamples(toHz));
  }

  audio(samples: Int16Array): void {
    this.#framer.push(this.#resampler?.push(samples) ?? samples, (frame) => this.#to.relayed(frame));
  }

  digit(key: string): void {
    this.#to.sendDigits?.(key);
  }

  close(): void {
    this.#resampler?.close();
  }
}
