import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wavHeader } from "../../media/wav.ts";
import { voiceSampleOf } from "./voice-sample.ts";

function wav(seconds: number, sampleRateHz = 16_000, channels = 1): Buffer {
  const bytes = seconds * sampleRateHz * channels * 2;
  return Buffer.concat([wavHeader({ sampleRateHz, channels }, bytes), Buffer.alloc(bytes)]);
}

/** MPEG 1, layer III, 128 kbit/s, 44.1 kHz: 417 or, padded, 418 bytes. */
function mp3(frames: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.writeUInt32BE(0xfffb9000, 0);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

function id3(size: number): Buffer {
  const tag = Buffer.alloc(10 + size, 0xff);
  tag.write("ID3\u0004\u0000\u0000", "latin1");
  for (let index = 0; index < 4; index += 1) tag[6 + index] = (size >> (7 * (3 - index))) & 0x7f;
  return tag;
}

describe("a recording of a voice", () => {
  it.each([
    [wav(5), 5_000],
    [wav(2, 44_100, 2), 2_000],
    [wav(3).subarray(0, 44 + 32_000), 1_000],
  ])("knows the length of a WAV file", (bytes, durationMs) => {
    expect(voiceSampleOf(bytes)).toEqual({ bytes, mediaType: "audio/wav", durationMs });
  });

  it.each([0, 0xffff_ffff])("reads a WAV file whose length is written as %i", (size) => {
    const bytes = wav(4);
    bytes.writeUInt32LE(size, 40);
    expect(voiceSampleOf(bytes)?.durationMs).toBe(4_000);
  });

  it("knows the length of an MP3 file, with a tag before it and one after it", () => {
    const expected = (100 * 1_152 * 1_000) / 44_100;
    for (const bytes of [mp3(100), Buffer.concat([id3(300), mp3(100), Buffer.from("TAG".padEnd(128))])]) {
      const sample = voiceSampleOf(bytes);
      expect(sample?.mediaType).toBe("audio/mpeg");
      expect(sample?.durationMs).toBeCloseTo(expected, 3);
    }
  });

  it("reads the frames of MPEG 2", () => {
    // 64 kbit/s, 22.05 kHz: 208 bytes.
    const frame = Buffer.alloc(208);
    frame.writeUInt32BE(0xfff38000, 0);
    const bytes = Buffer.concat(Array.from({ length: 50 }, () => frame));
    expect(voiceSampleOf(bytes)?.durationMs).toBeCloseTo((50 * 576 * 1_000) / 22_050, 3);
  });

  it("knows other files", () => {
    for (const text of ["OggS", "fLaC", "{}", "", "RIFF----AVI ", "RI"])
      expect(voiceSampleOf(Buffer.from(text))).toBeNull();
    expect(voiceSampleOf(Buffer.from("ID3 speech"))?.durationMs).toBeNull();
    expect(voiceSampleOf(Buffer.from("RIFF----WAVEfmt "))?.durationMs).toBeNull();
  });

  it("ends with any bytes", () => {
    fc.assert(
      fc.property(fc.constantFrom("RIFF----WAVE", "ID3", "\u00ff\u00fb"), fc.uint8Array(), (start, rest) => {
        const sample = voiceSampleOf(Buffer.concat([Buffer.from(start, "latin1"), rest]));
        expect(sample?.durationMs ?? 1).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
