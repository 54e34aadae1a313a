import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readSpeechFixture } from "../ports/testing/speech-fixtures.ts";
import { G722Decoder, G722Encoder } from "./g722.ts";
import { seeded } from "./testing/seeded.ts";
import { concat, pieces, sine, tonePower } from "./testing/signals.ts";

const random = seeded(722);
const noise = Int16Array.from({ length: 32_000 }, () => Math.floor(random() * 65_536) - 32_768);
/** Full scale both ways, so that every limit of the arithmetic is reached. */
const steps = Int16Array.from({ length: 32_000 }, (_, i) =>
  Math.floor(i / 37) % 2 === 0 ? 32_767 : -32_768,
);

/**
 * SHA-256 of what FFmpeg 5.1 makes of the same samples (16 kHz, mono, s16le), an independent implementation:
 * `ffmpeg -f s16le -ar 16000 -ac 1 -i in.raw -c:a g722 -f g722 coded`, then `ffmpeg -f g722 -i coded -f s16le decoded`.
 */
const REFERENCES = [
  {
    name: "speech",
    samples: readSpeechFixture("jfk.wav"),
    coded: "841dab64b46d5361bcb1662e1c2e3b2df3db12e07afbbd4712331d5cc1a8c55a",
    decoded: "dabaa2e6c5f33ec28c55ba29ffdbfa1767a096de38637d0bbbc0a9ae148cb40f",
  },
  {
    name: "noise at full scale",
    samples: noise,
    coded: "3d080a482b2c9909f34d5a27ee9b3ebedacf8b417cf657275f7448e8b609b6f1",
    decoded: "fd1f2c47f5ccb98aeba2a6d137b1a54d959a84ad9b468b6f707cc26e321fc010",
  },
  {
    name: "steps of full scale",
    samples: steps,
    coded: "3fbab53ee3dfd36c085859c663a736ecc3877eae5e4f6d69c0990f0afa5de20c",
    decoded: "f0a68190e3d8b4e779698dd4df9b57bf6de7dc38406d9cac1f6c7eded588d427",
  },
] as const;

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe("G.722", () => {
  it.each(REFERENCES)("codes and decodes $name exactly like the reference", ({ samples, coded, decoded }) => {
    const bytes = new G722Encoder().encode(samples);
    expect(sha256(bytes)).toBe(coded);
    const again = new G722Decoder().decode(bytes);
    expect(sha256(new Uint8Array(again.buffer))).toBe(decoded);
  });

  it("gives the same whether it gets the samples in one piece or frame by frame", () => {
    const speech = readSpeechFixture("jfk.wav").subarray(0, 32_000);
    const encoder = new G722Encoder();
    const frames = pieces(speech, [320, 160, 2]).map((frame) => encoder.encode(frame));
    expect(Buffer.concat(frames)).toEqual(Buffer.from(new G722Encoder().encode(speech)));
    const decoder = new G722Decoder();
    const decoded = concat(frames.map((frame) => decoder.decode(frame)));
    expect(decoded).toEqual(new G722Decoder().decode(Buffer.concat(frames)));
  });

  it("carries tones up to 7 kHz", () => {
    for (const hz of [100, 1_000, 3_500, 5_000, 6_800]) {
      const tone = sine(hz, 16_000, 16_000);
      const heard = new G722Decoder().decode(new G722Encoder().encode(tone)).subarray(1_600);
      const { tone: power, all } = tonePower(heard, hz, 16_000);
      expect(power / all).toBeGreaterThan(0.98);
    }
  });
});
