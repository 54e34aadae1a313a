/** Short ramps at the places where speech is cut within a sound, so that the cut is not heard as a click. */

import { msToSamples } from "./frame.ts";

/** Shorter than a syllable, and longer than one period of a low voice. */
export const FADE_MS = 10;

/** A copy that begins in silence. */
export function fadedIn(samples: Int16Array, sampleRateHz: number): Int16Array {
  const length = msToSamples(FADE_MS, sampleRateHz);
  return samples.map((sample, at) => (at < length ? Math.round(sample * rise(at / length)) : sample));
}

/** A frame of `size` samples that begins as `samples` do, and is silent after `FADE_MS`. */
export function fadedOut(samples: Int16Array, sampleRateHz: number, size: number): Int16Array {
  const length = Math.min(size, msToSamples(FADE_MS, sampleRateHz));
  const frame = new Int16Array(size);
  for (let at = 0; at < Math.min(length, samples.length); at += 1) {
    frame[at] = Math.round((samples[at] ?? 0) * rise(1 - at / length));
  }
  return frame;
}

/** From 0 to 1, without an edge at either end. */
function rise(share: number): number {
  return (1 - Math.cos(Math.PI * share)) / 2;
}
