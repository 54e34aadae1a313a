import { describe, expect, it } from "vitest";
import { KEPT_UTTERANCES, SpokenVoice } from "./spoken-voice.ts";

const RATE_HZ = 16_000;

describe("the voice of utterances", () => {
  it("begins before they were noticed, and ends with them", () => {
    const voice = new SpokenVoice();
    voice.push(Int16Array.of(9));
    voice.open(1, [Int16Array.of(1), Int16Array.of(2)]);
    const frame = Int16Array.of(3);
    voice.push(frame);
    frame[0] = 7;
    expect(voice.samplesOf(1)).toEqual(Int16Array.of(1, 2, 3));
    voice.push(Int16Array.of(4));
    voice.end(1);
    voice.push(Int16Array.of(5));
    expect(voice.samplesOf(1)).toEqual(Int16Array.of(1, 2, 3, 4));
    expect(voice.samplesOf(2)).toBeNull();
  });

  it("is not ended by the end of an earlier one", () => {
    const voice = new SpokenVoice();
    voice.open(1, []);
    voice.open(2, []);
    voice.end(1);
    voice.push(Int16Array.of(5));
    expect([voice.samplesOf(1), voice.samplesOf(2)]).toEqual([Int16Array.of(), Int16Array.of(5)]);
  });

  it("is kept of the latest ones, and nothing of it after the call", () => {
    const voice = new SpokenVoice();
    for (let id = 1; id <= KEPT_UTTERANCES + 2; id += 1) voice.open(id, [Int16Array.of(id)]);
    expect([voice.samplesOf(2), voice.samplesOf(3)]).toEqual([null, Int16Array.of(3)]);
    voice.close();
    expect(voice.samplesOf(3)).toBeNull();
  });

  it("is the newest minute of each", () => {
    const voice = new SpokenVoice();
    voice.open(1, []);
    const second = new Int16Array(RATE_HZ);
    for (let at = 0; at < 70; at += 1) voice.push(second.fill(at));
    voice.push(Int16Array.of(99));
    const samples = voice.samplesOf(1) ?? new Int16Array();
    expect(samples).toHaveLength(60 * RATE_HZ);
    expect([samples[0], samples[RATE_HZ], samples.at(-1)]).toEqual([10, 11, 99]);
  });
});
