/** Speech on its way over a phone line and back: a voice at 24 kHz, mu-law at 8 kHz, recognition at 16 kHz. */

import process from "node:process";
import { beforeAll, expect, test } from "vitest";
import { decodeMulaw, encodeMulaw } from "./g711.ts";
import { initResampler, Resampler } from "./resample.ts";
import { concat, pieces, sine, tonePower } from "./testing/signals.ts";

const VOICE_HZ = 24_000;
const LINE_HZ = 8_000;
const RECOGNISER_HZ = 16_000;

beforeAll(async () => {
  await initResampler(process);
});

function resampled(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  const resampler = new Resampler(fromHz, toHz);
  const parts = pieces(samples, [fromHz / 50]).map((piece) => resampler.push(piece));
  return concat([...parts, resampler.flush()]);
}

const overLine = (voice: Int16Array): Int16Array =>
  decodeMulaw(encodeMulaw(resampled(voice, VOICE_HZ, LINE_HZ)));

/** In decibels of full scale, without the ends, where the tone is switched on and off. */
function levelDb(samples: Int16Array, hz: number, rateHz: number): { tone: number; rest: number } {
  const { tone, all } = tonePower(samples.subarray(rateHz / 10, rateHz - rateHz / 10), hz, rateHz);
  return { tone: 10 * Math.log10(tone), rest: 10 * Math.log10(Math.max(all - tone, 1e-12)) };
}

test.each([
  [300, 0.5],
  [1_000, 0.5],
  [1_000, 0.05],
  [3_000, 0.5],
])(
  "a tone of %i Hz with the level %f is as loud at the other end, and as loud when it comes back",
  (hz, level) => {
    const voice = sine(hz, VOICE_HZ, VOICE_HZ, level);
    const wanted = levelDb(voice, hz, VOICE_HZ);
    const there = overLine(voice);
    const back = resampled(there, LINE_HZ, RECOGNISER_HZ);
    for (const [samples, rateHz] of [
      [there, LINE_HZ],
      [back, RECOGNISER_HZ],
    ] as const) {
      const { tone, rest } = levelDb(samples, hz, rateHz);
      expect(Math.abs(tone - wanted.tone)).toBeLessThan(0.5);
      // What mu-law adds is 30 dB and more below the speech.
      expect(tone - rest).toBeGreaterThan(30);
    }
  },
);

test("what a phone line cannot carry does not come back as another tone", () => {
  const { tone } = levelDb(overLine(sine(6_000, VOICE_HZ, VOICE_HZ, 0.5)), 2_000, LINE_HZ);
  expect(tone).toBeLessThan(-60);
});
