import { expect, test } from "vitest";
import { MAX_PEAKS, NotAWavError, PeakReader, readWavHeader, reduced } from "./wav-peaks.ts";

const RATE = 1_000;

/** 16-bit WAV of two channels; `notes`: a part before the sound that players skip. */
function wav(left: readonly number[], right: readonly number[], notes = 0): Uint8Array {
  const moments = left.length;
  const bytes = new Uint8Array(44 + (notes === 0 ? 0 : 8 + notes) + moments * 4);
  const view = new DataView(bytes.buffer);
  const text = (at: number, value: string) => bytes.set(new TextEncoder().encode(value), at);
  text(0, "RIFF");
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 2, true);
  view.setUint32(24, RATE, true);
  view.setUint32(28, RATE * 4, true);
  view.setUint16(32, 4, true);
  view.setUint16(34, 16, true);
  let at = 36;
  if (notes > 0) {
    text(at, "LIST");
    view.setUint32(at + 4, notes, true);
    at += 8 + notes;
  }
  text(at, "data");
  view.setUint32(at + 4, moments * 4, true);
  for (let moment = 0; moment < moments; moment += 1) {
    view.setInt16(at + 8 + moment * 4, left[moment] ?? 0, true);
    view.setInt16(at + 10 + moment * 4, right[moment] ?? 0, true);
  }
  return bytes;
}

/** One second: the caller in its first half, the agent in its second. */
const caller = Array.from({ length: RATE }, (_, at) => (at < RATE / 2 ? -16_384 : 0));
const agent = Array.from({ length: RATE }, (_, at) => (at < RATE / 2 ? 0 : 8_192));

test.each([1, 3, 44, 45, 1_000_000])("is the same when the bytes come %i at a time", (size) => {
  const reader = new PeakReader();
  const bytes = wav(caller, agent, 6);
  for (let at = 0; at < bytes.byteLength; at += size) reader.add(bytes.subarray(at, at + size));
  const { channels, durationMs } = reader.finish();
  expect(durationMs).toBe(1_000);
  expect(channels.map((peaks) => peaks.length)).toEqual([50, 50]);
  expect([...(channels[0] ?? [])].slice(23, 27)).toEqual([0.5, 0.5, 0, 0]);
  expect([...(channels[1] ?? [])].slice(23, 27)).toEqual([0, 0, 0.25, 0.25]);
});

test("what is no WAV of 16-bit sound is refused, an unfinished header as well", () => {
  expect(() => readWavHeader(new TextEncoder().encode("OggS and what follows"))).toThrow(NotAWavError);
  const eightBit = wav([0], [0]);
  new DataView(eightBit.buffer).setUint16(34, 8, true);
  expect(() => readWavHeader(eightBit)).toThrow(NotAWavError);
  const cut = new PeakReader();
  cut.add(wav([0], [0]).subarray(0, 30));
  expect(() => cut.finish()).toThrow(NotAWavError);
});

test("a recording without sound has no length", () => {
  const reader = new PeakReader();
  reader.add(wav([], []));
  expect(reader.finish()).toMatchObject({ durationMs: 0 });
});

test("long recordings keep their highest levels in fewer peaks", () => {
  const long = Array.from({ length: MAX_PEAKS * 3 }, (_, at) => (at % 3 === 1 ? 0.5 : 0.25));
  const short = reduced(long, MAX_PEAKS);
  expect(short.length).toBe(MAX_PEAKS);
  expect(new Set(short)).toEqual(new Set([0.5]));
});
