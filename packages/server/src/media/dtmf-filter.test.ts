import { describe, expect, it } from "vitest";
import { readSpeechFixture } from "../ports/testing/speech-fixtures.ts";
import { dtmfSamples } from "./dtmf.ts";
import { ToneFilter } from "./dtmf-filter.ts";
import { concat, pieces, sine } from "./testing/signals.ts";

const KEYS = "123A456B789C*0#D";
const loud = (samples: Int16Array): number => samples.filter((sample) => Math.abs(sample) > 300).length;

function filtered(
  samples: Int16Array,
  rateHz: number,
  lengths: readonly number[] = [rateHz / 50],
): Int16Array {
  const filter = new ToneFilter(rateHz);
  return concat(pieces(samples, lengths).map((piece) => filter.push(piece)));
}

describe("the filter of tones", () => {
  it.each([8_000, 16_000, 24_000])("silences all keys at %d Hz, but for the edges", (rateHz) => {
    for (const key of KEYS) {
      const tone = concat([...dtmfSamples({ digits: key, toneMs: 200, spaceMs: 100 }, rateHz)]);
      // Begins anywhere in a frame.
      for (const offsetMs of [0, 7, 13]) {
        const gap = new Int16Array((rateHz * offsetMs) / 1_000);
        const rest = filtered(concat([gap, tone, new Int16Array(rateHz / 10)]), rateHz);
        expect([key, offsetMs, (loud(rest) * 1_000) / rateHz <= 20]).toEqual([key, offsetMs, true]);
      }
    }
  });

  it("leaves recorded speech as it is", () => {
    for (const name of ["jfk.wav", "austen_0880.wav", "cards_005.wav", "goforward.wav"]) {
      const speech = readSpeechFixture(name);
      const rest = filtered(speech, 16_000);
      const changed = rest.filter((sample, at) => sample !== speech[at]).length;
      expect([name, changed]).toEqual([name, 0]);
    }
  });

  it("leaves a single tone, a quiet one and silence", () => {
    const single = sine(941, 8_000, 1_600);
    expect(filtered(single, 8_000)).toEqual(single);
    const [key = new Int16Array(0)] = dtmfSamples({ digits: "5", toneMs: 200, spaceMs: 100 }, 8_000);
    const quiet = key.map((sample) => Math.round(sample / 100));
    expect(filtered(quiet, 8_000)).toEqual(quiet);
    expect(loud(filtered(new Int16Array(800), 8_000))).toBe(0);
  });

  it("takes pieces of any length, and gives the caller's samples back unchanged", () => {
    const [key = new Int16Array(0)] = dtmfSamples({ digits: "5", toneMs: 400, spaceMs: 100 }, 8_000);
    const before = key.slice();
    expect(loud(filtered(key, 8_000, [33, 160, 7, 480]))).toBeLessThan(0.2 * key.length);
    expect(key).toEqual(before);
  });
});
