import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bytesPerSample, decodeAudio, encodeAudio } from "./audio-format.ts";

const SAMPLES = Int16Array.of(0, 1, -1, 258, -32_768, 32_767);

test("linear samples are whole in both byte orders", () => {
  expect([...encodeAudio("s16le", Int16Array.of(258))]).toEqual([2, 1]);
  expect([...encodeAudio("s16be", Int16Array.of(258))]).toEqual([1, 2]);
  for (const encoding of ["s16le", "s16be"] as const) {
    expect([...decodeAudio(encoding, encodeAudio(encoding, SAMPLES))]).toEqual([...SAMPLES]);
  }
});

test("an odd last byte is left out", () => {
  for (const encoding of ["s16le", "s16be"] as const) {
    expect(decodeAudio(encoding, Uint8Array.of(1, 2, 3))).toHaveLength(1);
    expect(decodeAudio(encoding, Uint8Array.of(1))).toHaveLength(0);
  }
});

test("each encoding has as many bytes as it says, and gives the samples back within its steps", () => {
  const samples = fc.array(fc.integer({ min: -32_635, max: 32_635 }), { maxLength: 50 });
  fc.assert(
    fc.property(samples, fc.constantFrom("mulaw" as const, "alaw" as const), (drawn, encoding) => {
      const bytes = encodeAudio(encoding, Int16Array.from(drawn));
      expect(bytes).toHaveLength(drawn.length * bytesPerSample(encoding));
      for (const [index, sample] of decodeAudio(encoding, bytes).entries()) {
        const step = Math.max(16, Math.abs(drawn[index] ?? 0) / 16);
        expect(Math.abs(sample - (drawn[index] ?? 0))).toBeLessThanOrEqual(step);
      }
    }),
  );
});
