import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOfSamples } from "../../media/pcm.ts";
import { decodeMulaw } from "../../media/g711.ts";
import { AudioFrames, bytesOfBase64, nearestRate } from "./audio-frames.ts";

const PCM = { encoding: "pcm_s16le", sampleRateHz: 16_000 } as const;

function readAll(frames: AudioFrames, pieces: readonly (string | Uint8Array)[]): number[] {
  return pieces.flatMap((piece) => frames.push(piece)).flatMap(({ samples }) => [...samples]);
}

describe("frames of audio", () => {
  it("joins samples that are cut in the middle, at every byte", () => {
    const samples = Int16Array.from({ length: 20 }, (_, index) => (index - 10) * 3_000);
    const bytes = bytesOfSamples(samples);
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        const pieces = [bytes.slice(0, first), bytes.slice(first, second), bytes.slice(second)];
        const frames = new AudioFrames(PCM);
        const encoded = pieces.map((piece) => Buffer.from(piece).toString("base64"));
        expect(readAll(frames, encoded)).toEqual([...samples]);
        expect(frames.durationMs).toBe(1.25);
      }
    }
  });

  it("decodes mu-law as it comes", () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, code) => code);
    const frames = new AudioFrames({ encoding: "mulaw", sampleRateHz: 8_000 });
    expect(readAll(frames, [bytes.subarray(0, 3), bytes.subarray(3)])).toEqual([...decodeMulaw(bytes)]);
    expect(frames.durationMs).toBe(32);
  });

  it("cuts long pieces into parts of 200 ms", () => {
    const parts = new AudioFrames(PCM).push(new Uint8Array(16_000 * 2 + 1));
    expect(parts.map(({ samples }) => samples.length)).toEqual([3_200, 3_200, 3_200, 3_200, 3_200]);
    expect(new Set(parts.map(({ sampleRateHz }) => sampleRateHz))).toEqual(new Set([16_000]));
  });

  it("refuses what is no base64, and more than the limit", () => {
    for (const text of ["a b=", "{}", "abcde", "YWJj\n", "Zg=x", "é"])
      expect(() => new AudioFrames(PCM).push(text)).toThrow("no base64");
    const frames = new AudioFrames(PCM, 10);
    frames.push(new Uint8Array(10));
    expect(() => frames.push(new Uint8Array(1))).toThrow("more than 10 bytes");
  });

  it("reads both alphabets of base64, with and without padding", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
        for (const text of [
          Buffer.from(bytes).toString("base64"),
          Buffer.from(bytes).toString("base64url"),
          Buffer.from(bytes).toString("base64").replaceAll("=", ""),
        ])
          expect([...bytesOfBase64(text)]).toEqual([...bytes]);
      }),
    );
  });

  it("takes the nearest rate that is not lower", () => {
    const rates = [24_000, 8_000, 16_000];
    expect([7_000, 8_000, 8_001, 22_050, 48_000].map((rate) => nearestRate(rates, rate))).toEqual([
      8_000, 8_000, 16_000, 24_000, 24_000,
    ]);
  });
});
