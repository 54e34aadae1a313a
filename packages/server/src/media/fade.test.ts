import { describe, expect, test } from "vitest";
import { FADE_MS, fadedIn, fadedOut } from "./fade.ts";
import { sine } from "./testing/signals.ts";

const RATES = [8_000, 16_000, 48_000] as const;

/** The largest step between two samples, the silence before and after included. */
function steepest(samples: Int16Array): number {
  const whole = [0, ...samples, 0];
  return whole.reduce((most, sample, at) => Math.max(most, Math.abs(sample - (whole[at - 1] ?? 0))), 0);
}

describe.each(RATES)("speech that is cut at %i Hz", (rate) => {
  const frame = rate / 50;
  // A peak of the wave is at its beginning and at its end.
  const voice = sine(100, rate, 2 * rate).subarray(rate / 400, rate / 400 + frame);

  test("ends without an edge", () => {
    const tail = fadedOut(voice, rate, frame);
    expect(tail).toHaveLength(frame);
    expect(tail[0]).toBe(voice[0]);
    expect([...tail.subarray((rate * FADE_MS) / 1_000)].every((sample) => sample === 0)).toBe(true);
    expect(steepest(tail.subarray(1))).toBeLessThanOrEqual(Math.abs(tail[1] ?? 0));
    const after = [...tail].slice(1).map((sample, at) => Math.abs(sample - (tail[at] ?? 0)));
    expect(Math.max(...after)).toBeLessThan(Math.abs(voice[0] ?? 0) / 3);
  });

  test("begins without an edge, and is as it was after that", () => {
    const begun = fadedIn(voice, rate);
    expect(begun[0]).toBe(0);
    expect(steepest(begun.subarray(0, frame / 2))).toBeLessThan(steepest(voice));
    expect(begun.subarray((rate * FADE_MS) / 1_000)).toEqual(voice.subarray((rate * FADE_MS) / 1_000));
  });
});

test("a cut shortly before the end takes what is left", () => {
  const tail = fadedOut(Int16Array.of(1_000, 1_000), 8_000, 160);
  expect([...tail.subarray(2)].every((sample) => sample === 0)).toBe(true);
  expect(fadedOut(new Int16Array(0), 8_000, 160)).toEqual(new Int16Array(160));
  expect(fadedIn(new Int16Array(0), 8_000)).toEqual(new Int16Array(0));
});
