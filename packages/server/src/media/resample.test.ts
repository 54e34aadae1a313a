import type { EventEmitter } from "node:events";
import nodeProcess from "node:process";
import * as fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { initResampler, Resampler } from "./resample.ts";
import { concat, pieces, ramp, sine, tonePower } from "./testing/signals.ts";

const process: EventEmitter = nodeProcess;
const events = ["uncaughtException", "unhandledRejection"] as const;

const listeners = () => events.map((event) => process.listeners(event));
const before = listeners();

beforeAll(async () => {
  await initResampler(process);
  await initResampler(process);
});

test("loading leaves the process's listeners as they were", () => {
  expect(listeners()).toEqual(before);
});

function resampled(
  samples: Int16Array,
  fromHz: number,
  toHz: number,
  lengths: readonly number[],
): Int16Array {
  const resampler = new Resampler(fromHz, toHz);
  const parts = pieces(samples, lengths).map((piece) => resampler.push(piece));
  return concat([...parts, resampler.flush()]);
}

const RATES = [8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000] as const;
const pairs = RATES.flatMap((rate) => [
  { from: rate, to: 16_000 },
  { from: 16_000, to: rate },
]).filter(({ from, to }) => from !== to);

test.each(pairs)(
  "a tone from $from to $to Hz keeps its level and its place, and nothing joins it",
  (pair) => {
    const { from, to } = pair;
    const seconds = 1;
    const output = resampled(sine(1_000, from, from * seconds, 0.5), from, to, [from / 50]);
    expect(output.length).toBe(to * seconds);
    // The ends show where the tone was switched on and off; whole periods are measured in between.
    const middle = output.subarray(to * 0.1, to * 0.9);
    const { tone, all } = tonePower(middle, 1_000, to);
    expect(10 * Math.log10(tone / 0.125)).toBeGreaterThan(-0.3);
    expect(10 * Math.log10(tone / 0.125)).toBeLessThan(0.3);
    expect(10 * Math.log10(tone / Math.max(all - tone, 1e-12))).toBeGreaterThan(60);
    // The output is where the input was, to less than one sample: a delay of d seconds costs (2π · 1000 · d)² of power.
    const expected = sine(1_000, to, output.length, 0.5).subarray(to * 0.1, to * 0.9);
    let error = 0;
    for (let i = 0; i < middle.length; i += 1) error += ((middle[i]! - expected[i]!) / 32_768) ** 2;
    expect(error / middle.length).toBeLessThan(0.125 * ((2 * Math.PI * 1_000) / to) ** 2);
  },
);

test("a tone above the lower rate's band is taken out", () => {
  const output = resampled(sine(12_000, 48_000, 48_000, 0.5), 48_000, 16_000, [960]).subarray(1_600, 14_400);
  expect(10 * Math.log10(tonePower(output, 4_000, 16_000).all / 0.125)).toBeLessThan(-60);
});

test("pieces do not matter", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...pairs),
      fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 6 }),
      ({ from, to }, lengths) => {
        const samples = sine(700, from, 4_000, 0.8);
        expect(resampled(samples, from, to, lengths)).toEqual(resampled(samples, from, to, [4_000]));
      },
    ),
    { numRuns: 60 },
  );
});

test("equal rates change nothing", () => {
  const samples = ramp(1_000);
  expect(resampled(samples, 16_000, 16_000, [7])).toEqual(samples);
});

test("a stream can be used again after its end", () => {
  const resampler = new Resampler(8_000, 16_000);
  const once = concat([resampler.push(sine(440, 8_000, 800)), resampler.flush()]);
  const again = concat([resampler.push(sine(440, 8_000, 800)), resampler.flush()]);
  expect(again).toEqual(once);
  expect(resampler.flush().length).toBe(0);
});

test("ten thousand streams opened and closed keep working", () => {
  const samples = sine(440, 48_000, 96);
  for (let i = 0; i < 10_000; i += 1) {
    const resampler = new Resampler(48_000, 16_000);
    resampler.push(samples);
    resampler.close();
  }
  expect(resampled(sine(440, 48_000, 4_800), 48_000, 16_000, [960]).length).toBe(1_600);
});

test.each([0, 7_999, 48_001, 16_000.5, Number.NaN])("a rate of %d Hz is refused", (rate) => {
  expect(() => new Resampler(rate, 16_000)).toThrow(RangeError);
});
