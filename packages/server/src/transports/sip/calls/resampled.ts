/** Samples of a whole recording at another rate, without holding up the thread. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { Resampler } from "../../../media/resample.ts";

/** A second of audio takes some 2 ms; between two of them other work is done. */
const SLICE_MS = 1_000;

export async function resampled(samples: Int16Array, fromHz: number, toHz: number): Promise<Int16Array> {
  if (fromHz === toHz) return samples;
  const resampler = new Resampler(fromHz, toHz);
  try {
    const parts: Int16Array[] = [];
    const slice = Math.ceil((fromHz * SLICE_MS) / 1_000);
    for (let at = 0; at < samples.length; at += slice) {
      parts.push(resampler.push(samples.subarray(at, at + slice)).slice());
      await nextTurn();
    }
    const all = new Int16Array(parts.reduce((length, part) => length + part.length, 0));
    let filled = 0;
    for (const part of parts) {
      all.set(part, filled);
      filled += part.length;
    }
    return all;
  } finally {
    resampler.close();
  }
}
