import * as fc from "fast-check";
import { expect, test } from "vitest";
import { HalfBand } from "./half-band.ts";
import { concat, pieces, sine, tonePower } from "./testing/signals.ts";

const LOW_HZ = 8_000;
const HIGH_HZ = 16_000;
const decibels = (power: number): number => 10 * Math.log10(Math.max(power, 1e-12));
/** Of a tone with half of the full scale. */
const FULL = decibels(0.125);

function doubled(samples: Int16Array, lengths: readonly number[] = [160]): Int16Array {
  const filter = new HalfBand("double");
  return concat(pieces(samples, lengths).map((piece) => filter.push(piece)));
}

function halved(samples: Int16Array, lengths: readonly number[] = [320]): Int16Array {
  const filter = new HalfBand("halve");
  return concat(pieces(samples, lengths).map((piece) => filter.push(piece)));
}

/** Without the ends, where the tone is switched on and off; a whole number of periods of every tone here. */
const middleOf = (samples: Int16Array, rateHz: number): Int16Array =>
  samples.subarray(rateHz * 0.1, rateHz * 0.9);

test.each([100, 1_000, 3_000, 3_400, 3_500])("a tone of %i Hz keeps its level in both directions", (hz) => {
  const up = middleOf(doubled(sine(hz, LOW_HZ, LOW_HZ)), HIGH_HZ);
  expect(decibels(tonePower(up, hz, HIGH_HZ).tone) - FULL).toBeCloseTo(0, 1);
  const down = middleOf(halved(sine(hz, HIGH_HZ, HIGH_HZ)), LOW_HZ);
  expect(decibels(tonePower(down, hz, LOW_HZ).tone) - FULL).toBeCloseTo(0, 1);
});

test.each([100, 1_000, 3_000, 3_400, 3_500])("of %i Hz no image is heard above the band", (hz) => {
  const up = middleOf(doubled(sine(hz, LOW_HZ, LOW_HZ)), HIGH_HZ);
  expect(decibels(tonePower(up, LOW_HZ - hz, HIGH_HZ).tone) - FULL).toBeLessThan(-85);
});

test.each([4_500, 5_000, 6_000, 7_900])("a tone of %i Hz does not come back below the band", (hz) => {
  const down = middleOf(halved(sine(hz, HIGH_HZ, HIGH_HZ)), LOW_HZ);
  expect(decibels(tonePower(down, LOW_HZ - hz, LOW_HZ).tone) - FULL).toBeLessThan(-85);
});

test("an edge at full scale is cut at full scale, and does not wrap", () => {
  const square = Int16Array.from({ length: 800 }, (_, i) =>
    Math.floor(i / 40) % 2 === 0 ? 32_767 : -32_768,
  );
  // The last of the 19 edges is still in the longer filter.
  for (const [output, edges] of [
    [doubled(square), 19],
    [halved(square), 18],
  ] as const) {
    // The filter rings at an edge. With a wrap, samples there would have the other sign; the one in the middle is 0.
    const sides = output.filter((sample) => Math.abs(sample) > 100).map(Math.sign);
    const flips = sides.filter((side, i) => i > 0 && side !== sides[i - 1]).length;
    expect(flips).toBe(edges);
    expect(Math.max(...output)).toBe(32_767);
    expect(Math.min(...output)).toBe(-32_768);
  }
});

test("the first output belongs to the first input, and the last input waits for 3 ms", () => {
  const impulse = new Int16Array(200);
  impulse[0] = 20_000;
  expect(doubled(impulse)[0]).toBe(20_000);
  expect(halved(impulse)[0]).toBe(10_000);
  expect(doubled(new Int16Array(1_000)).length).toBe(2 * (1_000 - 24));
  expect(halved(new Int16Array(1_000)).length).toBe((1_000 - 46) / 2);
  expect(new HalfBand("double").latencySamples).toBe(25);
  expect(new HalfBand("halve").latencySamples).toBe(48);
});

test("pieces of any length give the same output", () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 2_500 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(lengths, (cut) => {
      const samples = sine(700, LOW_HZ, 3_000, 0.8);
      expect(doubled(samples, cut)).toEqual(doubled(samples, [3_000]));
      expect(halved(samples, cut)).toEqual(halved(samples, [3_000]));
    }),
    { numRuns: 60 },
  );
});
