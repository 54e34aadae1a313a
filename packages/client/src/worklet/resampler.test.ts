import { describe, expect, it } from "vitest";
import { floatsOf, FrameCutter } from "./frame-cutter.ts";
import { Resampler } from "./resampler.ts";

function tone(hz: number, rateHz: number, count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => Math.sin((2 * Math.PI * hz * i) / rateHz));
}

/** Resamples a stream in chunks of the audio thread's size. */
function through(resampler: Resampler, samples: Float32Array, piece = 128): Float32Array {
  const made: number[] = [];
  for (let at = 0; at < samples.length; at += piece)
    made.push(...resampler.push(samples.subarray(at, at + piece)));
  return Float32Array.from(made);
}

function loudness(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length);
}

/** The share of the signal that remains after this tone is removed. */
function noise(samples: Float32Array, hz: number, rateHz: number): number {
  let re = 0;
  let im = 0;
  samples.forEach((one, i) => {
    re += one * Math.cos((2 * Math.PI * hz * i) / rateHz);
    im += one * Math.sin((2 * Math.PI * hz * i) / rateHz);
  });
  const rest = samples.map((one, i) => {
    const angle = (2 * Math.PI * hz * i) / rateHz;
    return one - (2 / samples.length) * (re * Math.cos(angle) + im * Math.sin(angle));
  });
  return loudness(rest) / loudness(samples);
}

describe("a resampler", () => {
  it.each([
    [48_000, 16_000],
    [44_100, 16_000],
    [16_000, 48_000],
    [16_000, 44_100],
    [8_000, 48_000],
    [48_000, 24_000],
  ])("takes a tone from %i to %i Hz, as loud and clean", (from, to) => {
    const made = through(new Resampler(from, to), tone(1_000, from, from));
    expect(Math.abs(made.length - to)).toBeLessThan(to / 100);
    const steady = made.subarray(to / 10, to / 10 + Math.floor(to / 2 / 100) * 100);
    expect(loudness(steady)).toBeCloseTo(Math.SQRT1_2, 2);
    expect(noise(steady, 1_000, to)).toBeLessThan(0.01);
  });

  it("lets nothing pass that the lower rate cannot hold", () => {
    const made = through(new Resampler(48_000, 16_000), tone(10_000, 48_000, 48_000));
    expect(loudness(made.subarray(1_000))).toBeLessThan(0.002);
  });

  it("is the same in pieces of any size", () => {
    const samples = tone(440, 44_100, 8_000);
    const whole = through(new Resampler(44_100, 16_000), samples, 8_000);
    const pieces = through(new Resampler(44_100, 16_000), samples, 37);
    expect(pieces).toHaveLength(whole.length);
    pieces.forEach((one, i) => expect(one).toBeCloseTo(whole[i] ?? 9, 5));
  });

  it("keeps its pace over many pieces", () => {
    const resampler = new Resampler(44_100, 16_000);
    let made = 0;
    const piece = new Float32Array(4_410);
    for (let i = 0; i < 100; i += 1) made += resampler.push(piece).length;
    expect(Math.abs(made - 100 * 1_600)).toBeLessThan(20);
  });

  it("changes nothing at the same rate, and keeps a copy", () => {
    const samples = tone(440, 16_000, 160);
    const made = new Resampler(16_000, 16_000).push(samples);
    expect(made).toEqual(samples);
    expect(made).not.toBe(samples);
  });
});

describe("a frame cutter", () => {
  it("cuts even frames from uneven pieces, and clips what is too loud", () => {
    const frames: Int16Array[] = [];
    const cutter = new FrameCutter(4, (frame) => frames.push(frame));
    cutter.push(Float32Array.of(0, 0.5, -0.5));
    cutter.push(Float32Array.of(2, -2, 1));
    expect(frames).toEqual([Int16Array.of(0, 16_384, -16_383, 32_767)]);
    cutter.push(Float32Array.of(-1, 0));
    expect(frames[1]).toEqual(Int16Array.of(-32_767, 32_767, -32_767, 0));
    expect(frames[0]).not.toBe(frames[1]);
  });

  it("is undone but for rounding", () => {
    expect(floatsOf(Int16Array.of(0, 16_384, -32_768))).toEqual(Float32Array.of(0, 0.5, -1));
  });
});
