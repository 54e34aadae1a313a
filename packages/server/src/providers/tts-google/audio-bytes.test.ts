import { describe, expect, it } from "vitest";
import { decodeMulaw, encodeMulaw } from "../../media/g711.ts";
import { wavHeader } from "../../media/wav.ts";
import { openAudioBytes } from "./audio-bytes.ts";
import type { AudioEncoding } from "./contract.ts";

const SAMPLES = Int16Array.from({ length: 40 }, (_, index) => 700 * index - 14_000);
const PCM = Buffer.from(SAMPLES.buffer, 0, SAMPLES.byteLength);
const MULAW = Buffer.from(encodeMulaw(SAMPLES));
const HEADER = wavHeader({ sampleRateHz: 8_000, channels: 1 }, PCM.length);

function readAll(encoding: AudioEncoding, pieces: readonly Uint8Array[]): number[] {
  const audio = openAudioBytes(encoding);
  return [...pieces.map((piece) => audio.push(piece)), audio.end()].flatMap((samples) => [...samples]);
}

describe("audio bytes of Google", () => {
  it.each([
    ["PCM", PCM, [...SAMPLES]],
    ["PCM", Buffer.concat([HEADER, PCM]), [...SAMPLES]],
    ["PCM", Buffer.concat([PCM, Buffer.from([7])]), [...SAMPLES]],
    ["PCM", PCM.subarray(0, 6), [...SAMPLES.subarray(0, 3)]],
    ["MULAW", MULAW, [...decodeMulaw(MULAW)]],
    ["MULAW", Buffer.concat([HEADER, MULAW]), [...decodeMulaw(MULAW)]],
  ] as const)("are samples, cut at any byte (%s)", (encoding, bytes, samples) => {
    for (let at = 0; at <= bytes.length; at += 1)
      expect(readAll(encoding, [bytes.subarray(0, at), bytes.subarray(at)])).toEqual(samples);
    expect(
      readAll(
        encoding,
        [...bytes].map((byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(samples);
  });

  it("are refused where a header has no audio", () => {
    expect(() => readAll("PCM", [HEADER.subarray(0, 30)])).toThrow("a WAV file without audio");
    const endless = Buffer.concat([
      HEADER.subarray(0, 12),
      Buffer.from("LIST\u00ff\u00ff\u00ff\u007f", "latin1"),
    ]);
    expect(() => readAll("PCM", [endless])).toThrow("a WAV file without audio");
  });
});
