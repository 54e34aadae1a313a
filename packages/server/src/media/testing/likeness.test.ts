import { expect, it } from "vitest";
import { readSpeechFixture } from "../../ports/testing/speech-fixtures.ts";
import { aligned, likeness } from "./likeness.ts";

const recorded = (samples: Int16Array) => ({ samples, rateHz: 16_000 });
const words = readSpeechFixture("goforward.wav");
const others = readSpeechFixture("jfk.wav");

/** Every n-th frame is there twice. */
function doubled(samples: Int16Array, every: number): Int16Array {
  const parts: number[] = [];
  for (let at = 0; at + 320 <= samples.length; at += 320) {
    const frame = samples.subarray(at, at + 320);
    parts.push(...frame);
    if ((at / 320) % every === 0) parts.push(...frame);
  }
  return Int16Array.from(parts);
}

it("knows the same speech, later and at another rate", () => {
  const late = new Int16Array([...new Int16Array(3_200), ...words]);
  expect(likeness(recorded(words), recorded(late))).toBeGreaterThan(0.99);
  expect(aligned(recorded(words), recorded(late))).toBeGreaterThan(0.95);
  const half = { samples: words.filter((_, n) => n % 2 === 0), rateHz: 8_000 };
  expect(aligned(recorded(words), half)).toBeGreaterThan(0.9);
});

it("knows speech of which frames come twice, and not that of other words", () => {
  const spoken = words.subarray(8_000, 36_000);
  expect(aligned(recorded(spoken), recorded(doubled(words, 20)))).toBeGreaterThan(0.9);
  expect(aligned(recorded(spoken), recorded(others))).toBeLessThan(0.8);
  expect(aligned(recorded(others.subarray(0, 32_000)), recorded(words))).toBeLessThan(0.8);
  expect(aligned(recorded(spoken), recorded(new Int16Array(48_000)))).toBeLessThan(0.5);
  expect(aligned(recorded(spoken), recorded(new Int16Array()))).toBe(0);
});
