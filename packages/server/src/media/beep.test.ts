import { expect, test } from "vitest";
import { readSpeechFixture } from "../ports/testing/speech-fixtures.ts";
import { BeepDetector } from "./beep.ts";
import { decodeMulaw, encodeMulaw } from "./g711.ts";
import { concat, pieces, sine } from "./testing/signals.ts";

const CLIPS = ["austen_0880", "austen_0920", "austen_0930", "austen_long_pauses", "goforward", "jfk"];
const RATES_HZ = [8_000, 16_000];

/** The line: noise at about -50 dBFS, and mu-law. */
function overLine(samples: Int16Array): Int16Array {
  let seed = 7;
  const noise = () => ((seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31 - 0.5) * 360;
  return decodeMulaw(encodeMulaw(samples.map((sample) => sample + noise()))).slice();
}

function beepsIn(samples: Int16Array, rateHz: number, pieceMs = 20): number {
  const detector = new BeepDetector(rateHz);
  return pieces(samples, [(rateHz * pieceMs) / 1_000]).filter((piece) => detector.push(piece)).length;
}

const quiet = (ms: number, rateHz: number) => new Int16Array((rateHz * ms) / 1_000);

function both(oneHz: number, otherHz: number): Int16Array {
  const other = sine(otherHz, 8_000, 4_000, 0.2);
  return sine(oneHz, 8_000, 4_000, 0.2).map((sample, n) => sample + (other[n] ?? 0));
}

test.each(RATES_HZ)("a beep is found at %i Hz, whatever its pitch, length and loudness", (rateHz) => {
  for (const hz of [620, 1_000, 1_400, 2_300])
    for (const ms of [220, 500, 1_000])
      for (const level of [0.5, 0.1, 0.04]) {
        const beep = sine(hz, rateHz, (rateHz * ms) / 1_000, level);
        const line = overLine(concat([quiet(330, rateHz), beep, quiet(330, rateHz)]));
        expect([hz, ms, level, beepsIn(line, rateHz), beepsIn(line, rateHz, 33)]).toEqual([
          hz,
          ms,
          level,
          1,
          1,
        ]);
      }
});

test("after a greeting it is found, and the greeting has none", () => {
  for (const name of CLIPS) {
    const greeting = readSpeechFixture(`${name}.wav`);
    expect([name, beepsIn(overLine(greeting), 16_000)]).toEqual([name, 0]);
    const beep = sine(1_000, 16_000, 8_000, 0.2);
    expect([name, beepsIn(overLine(concat([greeting, beep, quiet(200, 16_000)])), 16_000)]).toEqual([
      name,
      1,
    ]);
  }
});

test.each([
  ["a click of 60 ms", sine(1_000, 8_000, 480, 0.3)],
  ["a tone that goes on for 3 s", sine(1_000, 8_000, 24_000, 0.3)],
  ["the tone of a busy line", sine(425, 8_000, 4_000, 0.3)],
  ["a key", both(770, 1_336)],
  ["another key", both(697, 1_209)],
  ["a tone below the noise", sine(1_000, 8_000, 4_000, 0.003)],
])("%s is none", (_case, tone) => {
  expect(beepsIn(overLine(concat([quiet(300, 8_000), tone, quiet(300, 8_000)])), 8_000)).toBe(0);
});
