/** Recorded speech on a phone line, and a recogniser that knows recordings by the course of their loudness. */

import { Resampler } from "../src/media/resample.ts";
import type { FakeCarrier } from "../src/transports/telephony/testing/fake-carrier.ts";

/** The course of the loudness, one value for each 10 ms. */
export function loudnessOf(samples: Int16Array): number[] {
  const step = 160;
  return Array.from({ length: Math.floor(samples.length / step) }, (_, i) => {
    const part = samples.subarray(i * step, (i + 1) * step);
    return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / step);
  });
}

/** Correlation of two courses, at the best of all shifts; 1: the same. */
export function likenessOf(a: readonly number[], b: readonly number[]): number {
  let best = 0;
  for (let shift = -b.length; shift < a.length; shift += 1) {
    const pairs = a.flatMap((value, i) => {
      const other = b[i - shift];
      return other === undefined ? [] : [[value, other] as const];
    });
    // Half of the recording, so that a chance likeness of a few syllables does not count.
    if (pairs.length * 2 >= b.length) best = Math.max(best, correlation(pairs));
  }
  return best;
}

function correlation(pairs: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[at], 0) / pairs.length;
  const [meanA, meanB] = [mean(0), mean(1)];
  const sums = pairs.reduce(
    ({ ab, aa, bb }, [a, b]) => ({
      ab: ab + (a - meanA) * (b - meanB),
      aa: aa + (a - meanA) ** 2,
      bb: bb + (b - meanB) ** 2,
    }),
    { ab: 0, aa: 0, bb: 0 },
  );
  return sums.ab / Math.sqrt(sums.aa * sums.bb || 1);
}

/** A clip of 16 kHz at the rate of the line. */
export function speechFor(carrier: FakeCarrier, clip: Int16Array): Int16Array {
  const resampler = new Resampler(16_000, carrier.stream.input.sampleRateHz);
  const first = resampler.push(clip).slice();
  const rest = resampler.flush();
  const samples = new Int16Array(first.length + rest.length);
  samples.set(first);
  samples.set(rest, first.length);
  resampler.close();
  return samples;
}
