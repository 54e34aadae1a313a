import { describe, expect, it } from "vitest";
import { JitterBuffer } from "./jitter-buffer.ts";

const RATE_HZ = 48_000;
const QUANTUM = 128;
const samples = (ms: number) => Math.round((ms * RATE_HZ) / 1_000);

/** The output of this many ms; ones stand for speech. */
function heard(buffer: JitterBuffer, ms: number): Float32Array {
  const all = new Float32Array(Math.ceil(samples(ms) / QUANTUM) * QUANTUM);
  for (let at = 0; at < all.length; at += QUANTUM) buffer.read(all.subarray(at, at + QUANTUM));
  return all;
}

const speech = (ms: number) => new Float32Array(samples(ms)).fill(1);
const ones = (all: Float32Array) => all.reduce((sum, one) => sum + (one > 0.99 ? 1 : 0), 0);

describe("a jitter buffer", () => {
  it("is silent while it waits, then plays all, then is silent", () => {
    const buffer = new JitterBuffer(RATE_HZ);
    expect(ones(heard(buffer, 100))).toBe(0);
    buffer.push(speech(20));
    expect(ones(heard(buffer, 10))).toBe(0);
    buffer.push(speech(20));
    expect(ones(heard(buffer, 100))).toBe(samples(40));
    expect(buffer.heldMs).toBe(0);
  });

  it("plays speech that is shorter than the wait", () => {
    const buffer = new JitterBuffer(RATE_HZ);
    buffer.push(speech(20));
    expect(ones(heard(buffer, 200))).toBe(samples(20));
  });

  it("plays on time whatever the unevenness within the wait", () => {
    const buffer = new JitterBuffer(RATE_HZ);
    buffer.push(speech(60));
    // Two frames are late by 20 ms each time; the output has no gap.
    let gaps = 0;
    for (let i = 0; i < 20; i += 1) {
      gaps += samples(40) - ones(heard(buffer, 40).subarray(0, samples(40)));
      buffer.push(speech(40));
    }
    expect(gaps).toBe(0);
  });

  it("waits longer after each gap within speech, up to a limit, and not after a pause", () => {
    const buffer = new JitterBuffer(RATE_HZ);
    const before = buffer.waitMs;
    buffer.push(speech(60));
    heard(buffer, 150);
    buffer.push(speech(20));
    expect(buffer.waitMs).toBeGreaterThan(before);
    for (let i = 0; i < 100; i += 1) {
      heard(buffer, 350);
      buffer.push(speech(20));
    }
    expect(buffer.waitMs).toBe(240);
    const paused = new JitterBuffer(RATE_HZ);
    for (let i = 0; i < 10; i += 1) {
      paused.push(speech(60));
      heard(paused, 1_000);
    }
    expect(paused.waitMs).toBe(before);
  });

  it("waits less again after quiet times", () => {
    const buffer = new JitterBuffer(RATE_HZ);
    buffer.push(speech(60));
    heard(buffer, 150);
    buffer.push(speech(60));
    const longer = buffer.waitMs;
    buffer.push(speech(12_000));
    heard(buffer, 11_000);
    expect(buffer.waitMs).toBeLessThan(longer);
  });

  it("drops what is unplayed when it is cleared, with a fade, and plays what comes next", () => {
    const buffer = new JitterBuffer(RATE_HZ);
    buffer.push(speech(500));
    heard(buffer, 50);
    buffer.clear();
    const fade = heard(buffer, 100);
    expect(ones(fade)).toBeLessThan(samples(1));
    expect(fade.findLastIndex((one) => one > 0)).toBeLessThan(samples(6));
    for (let i = 1; i < samples(5); i += 1) expect(fade[i] ?? 0).toBeLessThanOrEqual(fade[i - 1] ?? 0);
    const before = buffer.waitMs;
    buffer.push(speech(60));
    expect(buffer.waitMs).toBe(before);
    expect(ones(heard(buffer, 200))).toBe(samples(60));
  });

  it("holds no more than its limit", () => {
    const buffer = new JitterBuffer(1_000);
    for (let i = 0; i < 200; i += 1) buffer.push(new Float32Array(1_000));
    expect(buffer.heldMs).toBeLessThanOrEqual(127_000);
  });

  it("can be cleared when it is empty", () => {
    const buffer = new JitterBuffer(RATE_HZ);
    buffer.clear();
    expect(ones(heard(buffer, 50))).toBe(0);
  });
});
