import { describe, expect, test } from "vitest";
import { bytesOfSamples } from "./pcm.ts";
import { wavHeader } from "./wav.ts";
import { wavSamples } from "./wav-samples.ts";

interface Part {
  readonly tag?: number;
  readonly channels?: number;
  readonly rateHz?: number;
  readonly bits?: number;
}

function chunk(name: string, content: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header.write(name, 0, "latin1");
  header.writeUInt32LE(content.length, 4);
  return Buffer.concat([header, content, Buffer.alloc(content.length % 2)]);
}

function fileOf(chunks: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVE", "latin1"), ...chunks]);
}

function formatChunk({ tag = 1, channels = 1, rateHz = 8_000, bits = 16 }: Part = {}): Buffer {
  const content = Buffer.alloc(16);
  content.writeUInt16LE(tag, 0);
  content.writeUInt16LE(channels, 2);
  content.writeUInt32LE(rateHz, 4);
  content.writeUInt16LE(bits, 14);
  return chunk("fmt ", content);
}

const read = (part: Part, data: readonly number[], mostMs = 1_000): number[] => [
  ...wavSamples(fileOf([formatChunk(part), chunk("data", Buffer.from(data))]), mostMs).samples,
];

describe("a WAV file", () => {
  test("of this service is read", () => {
    const samples = Int16Array.from([1, -2, 300, -32_768]);
    const file = Buffer.concat([
      wavHeader({ sampleRateHz: 16_000, channels: 1 }, samples.byteLength),
      bytesOfSamples(samples),
    ]);
    expect(wavSamples(file, 1_000)).toEqual({ samples, sampleRateHz: 16_000 });
  });

  test("may have other chunks, an odd place in memory and a wrong length", () => {
    const list = chunk("LIST", Buffer.from("abc"));
    const data = chunk("data", Buffer.from([1, 0, 2, 0]));
    data.writeUInt32LE(0xffff_ffff, 4);
    const file = Buffer.concat([Buffer.from([9]), fileOf([list, formatChunk(), list, data])]).subarray(1);
    expect([...wavSamples(file, 1_000).samples]).toEqual([1, 2]);
  });

  test.each<[string, Part, readonly number[], readonly number[]]>([
    ["8 bits", { bits: 8 }, [0, 128, 255], [-32_768, 0, 32_512]],
    ["24 bits", { bits: 24 }, [9, 1, 0, 9, 0xff, 0xff], [1, -1]],
    ["stereo", { channels: 2 }, [10, 0, 20, 0, 0xff, 0xff, 1, 0], [15, 0]],
    ["µ-law", { tag: 7, bits: 8 }, [0xff, 0x80], [0, 32_124]],
    ["A-law", { tag: 6, bits: 8 }, [0xd5], [8]],
  ])("with %s", (_what, part, data, samples) => {
    expect(read(part, data)).toEqual(samples);
  });

  test("that is longer than allowed is cut", () => {
    expect(read({ rateHz: 8_000 }, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0], 1)).toHaveLength(
      8,
    );
  });

  test.each<[string, Uint8Array]>([
    ["is no WAV file", Buffer.from("ID3")],
    ["is no WAV file", Buffer.alloc(0)],
    ["has no samples", fileOf([formatChunk()])],
    ["has no format before its samples", fileOf([chunk("data", Buffer.alloc(4))])],
    ["has a format that cannot be read", fileOf([chunk("fmt ", Buffer.alloc(4))])],
    ["must be PCM", fileOf([formatChunk({ tag: 85 }), chunk("data", Buffer.alloc(4))])],
    ["must have one or two channels", fileOf([formatChunk({ channels: 0 })])],
    ["must have 8000 to 48000", fileOf([formatChunk({ rateHz: 96_000 })])],
    ["has no samples", fileOf(Array.from({ length: 100 }, () => chunk("junk", Buffer.alloc(0))))],
  ])("is refused: %s", (reason, file) => {
    expect(() => wavSamples(file, 1_000)).toThrow(reason);
  });
});
