import nodeProcess from "node:process";
import { beforeAll, describe, expect, it } from "vitest";
import type { DataConnectionAudio } from "../../plan/data-connection-plan.ts";
import { initResampler } from "../../media/resample.ts";
import { concat, ramp, sine, tonePower } from "../../media/testing/signals.ts";
import { DataAudio } from "./data-audio.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

const TICK_MS = 20;

interface Talk {
  readonly caller: Int16Array;
  readonly agent: Int16Array;
  readonly agentFromMs: number;
  readonly callerRateHz: number;
  readonly agentRateHz: number;
}

/** Three seconds of a call, tick by tick; the agent's audio is reported when it has been heard. */
function hear(audio: DataConnectionAudio, talk: Talk): Int16Array[] {
  const { caller, agent, agentFromMs, callerRateHz, agentRateHz } = talk;
  const frames: Int16Array[] = [];
  const sink = new DataAudio({
    audio,
    callerRateHz,
    agentRateHz,
    startMs: 0,
    send: (frame) => frames.push(frame.slice()),
  });
  const part = (samples: Int16Array, rateHz: number, fromMs: number) =>
    samples.subarray((fromMs * rateHz) / 1_000, ((fromMs + TICK_MS) * rateHz) / 1_000);
  for (let nowMs = TICK_MS; nowMs <= 3_000; nowMs += TICK_MS) {
    sink.caller(part(caller, callerRateHz, nowMs - TICK_MS), nowMs);
    const at = nowMs - TICK_MS - agentFromMs;
    const heard = at < 0 ? new Int16Array(0) : part(agent, agentRateHz, at);
    if (heard.length > 0) sink.agent(heard, nowMs - TICK_MS);
  }
  sink.close();
  sink.caller(caller, 4_000);
  sink.agent(agent, 4_000);
  return frames;
}

function sides(frames: readonly Int16Array[]): readonly [Int16Array, Int16Array] {
  const pairs = concat(frames);
  return [pairs.filter((_, i) => i % 2 === 0), pairs.filter((_, i) => i % 2 === 1)];
}

describe("D126 the audio of the data connection", () => {
  it("is 20 ms frames, the caller left and the agent right where it sounded", () => {
    const rateHz = 16_000;
    const caller = ramp(48_000);
    const agent = ramp(16_000, 500);
    const frames = hear(
      { sampleRateHz: rateHz, channels: "separated" },
      { caller, agent, agentFromMs: 1_000, callerRateHz: rateHz, agentRateHz: rateHz },
    );
    expect(new Set(frames.map(({ length }) => length))).toEqual(new Set([640]));
    // Audio younger than the hold is not sent yet.
    expect(frames).toHaveLength((3_000 - 300) / 20);
    const [left, right] = sides(frames);
    expect(left).toEqual(caller.subarray(0, left.length));
    expect(right.subarray(0, 16_000).every((sample) => sample === 0)).toBe(true);
    expect(right.subarray(16_000, 32_000)).toEqual(agent);
    expect(right.subarray(32_000).every((sample) => sample === 0)).toBe(true);
  });

  it.each([
    [8_000, 24_000, 16_000],
    [48_000, 48_000, 8_000],
    [16_000, 8_000, 48_000],
    [24_000, 16_000, 24_000],
  ])(
    "has each side at its own rate: %d and %d Hz become %d Hz",
    (callerRateHz, agentRateHz, sampleRateHz) => {
      const talk = {
        caller: sine(440, callerRateHz, callerRateHz * 3),
        agent: sine(1_000, agentRateHz, agentRateHz),
        agentFromMs: 500,
        callerRateHz,
        agentRateHz,
      };
      const [left, right] = sides(hear({ sampleRateHz, channels: "separated" }, talk));
      const at = (samples: Int16Array, fromMs: number, toMs: number) =>
        samples.subarray((fromMs * sampleRateHz) / 1_000, (toMs * sampleRateHz) / 1_000);
      const user = tonePower(at(left, 100, 2_500), 440, sampleRateHz);
      expect(user.tone / user.all).toBeGreaterThan(0.99);
      const spoken = tonePower(at(right, 550, 1_450), 1_000, sampleRateHz);
      expect(spoken.tone / spoken.all).toBeGreaterThan(0.99);
      // Each side is in its place to within 5 ms, and has nothing of the other.
      expect(tonePower(at(right, 0, 495), 1_000, sampleRateHz).all).toBeLessThan(1e-6);
      expect(tonePower(at(right, 1_510, 2_500), 1_000, sampleRateHz).all).toBeLessThan(1e-6);
      expect(tonePower(at(right, 505, 515), 1_000, sampleRateHz).all).toBeGreaterThan(0.05);
      expect(tonePower(at(left, 550, 1_450), 1_000, sampleRateHz).tone).toBeLessThan(1e-5);
    },
  );

  it("mixes both to mono and clips where they are too loud together", () => {
    const rateHz = 16_000;
    const talk = {
      caller: sine(440, rateHz, rateHz * 3, 0.4),
      agent: sine(1_000, rateHz, rateHz, 0.4),
      agentFromMs: 1_000,
      callerRateHz: rateHz,
      agentRateHz: rateHz,
    };
    const frames = hear({ sampleRateHz: rateHz, channels: "mixed" }, talk);
    expect(new Set(frames.map(({ length }) => length))).toEqual(new Set([320]));
    const mono = concat(frames);
    const together = mono.subarray(rateHz, 2 * rateHz);
    for (const hz of [440, 1_000]) {
      expect(tonePower(together, hz, rateHz).tone).toBeCloseTo(0.08, 3);
    }
    const loud = hear(
      { sampleRateHz: rateHz, channels: "mixed" },
      {
        ...talk,
        caller: new Int16Array(rateHz * 3).fill(30_000),
        agent: new Int16Array(rateHz).fill(30_000),
      },
    );
    const clipped = concat(loud).subarray(rateHz, 2 * rateHz);
    expect(clipped.every((sample) => sample === 32_767)).toBe(true);
  });
});
