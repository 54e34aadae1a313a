import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSpeechBody } from "./speech-body.ts";

interface WavFields {
  readonly format?: number;
  readonly channels?: number;
  readonly rateHz?: number;
  readonly bits?: number;
  readonly dataSize?: number;
  readonly before?: Uint8Array;
}

const le16 = (value: number): number[] => [value & 0xff, (value >> 8) & 0xff];
const le32 = (value: number): number[] => [...le16(value & 0xffff), ...le16(value >>> 16)];
const bytesOf = (samples: readonly number[]): number[] => samples.flatMap((sample) => le16(sample & 0xffff));
const letters = (text: string): number[] => [...Buffer.from(text, "latin1")];

function wav(samples: readonly number[], fields: WavFields = {}): Uint8Array {
  const { format = 1, channels = 1, rateHz = 22_050, bits = 16, before = new Uint8Array(0) } = fields;
  const data = bytesOf(samples);
  return Uint8Array.from([
    ...letters("RIFF"),
    ...le32(36 + data.length),
    ...letters("WAVE"),
    ...before,
    ...letters("fmt "),
    ...le32(16),
    ...le16(format),
    ...le16(channels),
    ...le32(rateHz),
    ...le32(rateHz * channels * 2),
    ...le16(channels * 2),
    ...le16(bits),
    ...letters("data"),
    ...le32(fields.dataSize ?? data.length),
    ...data,
  ]);
}

function readAll(contentType: string | null, pieces: readonly Uint8Array[]) {
  const body = readSpeechBody(contentType);
  const samples: number[] = [];
  const rates = new Set<number>();
  for (const out of [...pieces.map((piece) => body.push(piece)), body.end()]) {
    if (out === null) continue;
    samples.push(...out.samples);
    rates.add(out.sampleRateHz);
  }
  return { samples, rates: [...rates] };
}

function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

/** True for a result of true, and for a refusal that is an `Error` of our own. */
function outcome(act: () => boolean): boolean {
  try {
    return act();
  } catch (error) {
    return error instanceof Error && !(error instanceof RangeError) && !(error instanceof TypeError);
  }
}

const anySamples = fc.array(fc.integer({ min: -32_768, max: 32_767 }), { minLength: 1, maxLength: 200 });
const anyCuts = fc.array(fc.nat(1_000), { maxLength: 12 });

describe("the body of a speech answer", () => {
  it("reads PCM split anywhere", () => {
    fc.assert(
      fc.property(anySamples, anyCuts, (samples, cuts) => {
        fc.pre(
          samples[0] !== 0x4952 && samples[0] !== 0x4449 && samples[0] !== 0x674f && samples[0] !== 0x4c66,
        );
        const pieces = split(Uint8Array.from(bytesOf(samples)), cuts);
        expect(readAll("audio/pcm", pieces)).toEqual({ samples, rates: [24_000] });
      }),
    );
  });

  it("reads WAV split anywhere, at its own rate", () => {
    const note = Uint8Array.from([...letters("LIST"), ...le32(3), 1, 2, 3, 0]);
    fc.assert(
      fc.property(anySamples, anyCuts, fc.boolean(), (samples, cuts, noted) => {
        const pieces = split(wav(samples, noted ? { before: note } : {}), cuts);
        expect(readAll("audio/wav", pieces)).toEqual({ samples, rates: [22_050] });
      }),
    );
  });

  it.each([0, 0xffff_ffff, 0x7fff_ffff])("takes a WAV size of %i as unknown or large", (dataSize) => {
    expect(readAll(null, [wav([1, 2, 3], { dataSize })]).samples).toEqual([1, 2, 3]);
  });

  it("ignores what follows the audio of a WAV file", () => {
    const file = wav([1, 2, 3]);
    const trailed = Uint8Array.from([...file, ...letters("LIST"), ...le32(4), 9, 9, 9, 9]);
    for (let cut = 0; cut <= trailed.length; cut += 1)
      expect(readAll("audio/wav", split(trailed, [cut])).samples).toEqual([1, 2, 3]);
  });

  it("mixes two channels to one", () => {
    expect(readAll("audio/wav", [wav([100, 200, -32_768, -32_768, 5, 6], { channels: 2 })]).samples).toEqual([
      150, -32_768, 5,
    ]);
  });

  it("takes the rate of the Content-Type", () => {
    expect(readAll("audio/L16; rate=16000; channels=1", [Uint8Array.from([1, 0])])).toEqual({
      samples: [1],
      rates: [16_000],
    });
    expect(() => readSpeechBody("audio/pcm;rate=1000")).toThrow("1000 Hz");
  });

  it("drops a last odd byte", () => {
    expect(readAll("audio/pcm", [Uint8Array.from([1, 0, 7])]).samples).toEqual([1]);
  });

  it.each([
    ["nothing", "audio/pcm", [], "no audio"],
    ["one byte", "audio/pcm", [1], "no audio"],
    ["an empty WAV file", "audio/wav", [...wav([])], "no audio"],
    ["half a WAV header", "audio/wav", [...wav([1]).subarray(0, 30)], "no audio"],
    ["MP3 by type", "audio/mpeg", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], "MP3"],
    ["MP3 by tag", "application/octet-stream", letters("ID3\u0004aaaaaaaaaaa"), "MP3"],
    ["MP3 by frame", null, [0xff, 0xfb, 0x90, 0x64, 0, 0, 0, 0, 0, 0, 0, 0], "MP3"],
    ["Ogg", "audio/pcm", letters("OggSaaaaaaaaaaaa"), "Ogg"],
    ["FLAC", null, letters("fLaCaaaaaaaaaaaa"), "FLAC"],
    ["JSON without a type", null, letters('{"error":"no such voice"}'), "text, not audio"],
    ["a page called audio", "audio/wav", letters("<!doctype html><p>hello"), "text, not audio"],
    ["a picture", "image/png", letters("PNGaaaaaaaaaaaaaaa"), "image/png"],
    ["float WAV", "audio/wav", [...wav([1, 2], { format: 3, bits: 32 })], "format 3, 32 bits"],
    ["six channels", "audio/wav", [...wav([1, 2], { channels: 6 })], "6 channels"],
    ["a WAV file at 1 Hz", "audio/wav", [...wav([1, 2], { rateHz: 1 })], "1 Hz"],
  ])("refuses %s", (_name, contentType, bytes, message) => {
    expect(() => readAll(contentType, [Uint8Array.from(bytes)])).toThrow(message);
  });

  it("never gives anything but samples or an Error", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        anyCuts,
        fc.boolean(),
        fc.option(fc.string()),
        (bytes, cuts, riff, contentType) => {
          const input = riff ? Uint8Array.from([...letters("RIFFaaaaWAVE"), ...bytes]) : bytes;
          expect(outcome(() => readAll(contentType, split(input, cuts)).samples.length > 0)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
