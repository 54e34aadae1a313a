import { expect, test } from "vitest";
import { bytesOfSamples, interleave, samplesOfBytes } from "./pcm.ts";
import { parseWavHeader, wavHeader } from "./wav.ts";

test("samples survive the way through bytes at any alignment", () => {
  const samples = Int16Array.of(1, -2, 32_767, -32_768);
  const bytes = bytesOfSamples(samples);
  expect(samplesOfBytes(bytes)).toEqual(samples);
  const shifted = new Uint8Array(bytes.length + 1);
  shifted.set(bytes, 1);
  expect(samplesOfBytes(shifted.subarray(1))).toEqual(samples);
  const scratch = new Int16Array(10);
  const copied = samplesOfBytes(shifted.subarray(1), scratch);
  expect(copied).toEqual(samples);
  expect(copied.buffer).toBe(scratch.buffer);
});

test("an odd last byte is left out", () => {
  expect(samplesOfBytes(Uint8Array.of(1, 0, 2))).toEqual(Int16Array.of(1));
  expect(samplesOfBytes(Uint8Array.of(1))).toEqual(new Int16Array(0));
});

test("left and right alternate", () => {
  expect(interleave(Int16Array.of(1, 2), Int16Array.of(-1, -2))).toEqual(Int16Array.of(1, -1, 2, -2));
});

test("a WAV header says what it was given", () => {
  const header = wavHeader({ sampleRateHz: 16_000, channels: 2 }, 6_400);
  expect(parseWavHeader(header)).toEqual({ sampleRateHz: 16_000, channels: 2, dataBytes: 6_400 });
  expect(parseWavHeader(header.subarray(0, 43))).toBeNull();
  expect(parseWavHeader(new Uint8Array(44))).toBeNull();
});

test("a WAV header of an endless file says the most that fits", () => {
  const parsed = parseWavHeader(wavHeader({ sampleRateHz: 8_000, channels: 1 }, 2 ** 40));
  expect(parsed?.dataBytes).toBe(0xffff_ffff - 44);
});
