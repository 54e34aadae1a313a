import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initResampler } from "../../media/resample.ts";
import { ramp, sine, tonePower } from "../../media/testing/signals.ts";
import { Recorder } from "./recorder.ts";
import { openMemoryRecordings } from "../testing/memory-recordings.ts";

const RATE = 16_000;
const ms = (length: number) => (length * RATE) / 1_000;

beforeAll(async () => {
  await initResampler(nodeProcess);
});

function start(agentRateHz = RATE, rate = RATE) {
  const recordings = openMemoryRecordings();
  const recorder = new Recorder(recordings.create("c", rate), rate, agentRateHz, 0);
  return { recorder, read: () => recordings.read("c"), recordings };
}

test("left is the caller unchanged, right the agent where it sounded", async () => {
  const { recorder, read } = start();
  const caller = ramp(ms(3_000));
  const agent = ramp(ms(600), 500);
  for (let nowMs = 20; nowMs <= 3_000; nowMs += 20) {
    recorder.caller(caller.subarray(ms(nowMs - 20), ms(nowMs)), nowMs);
    // It is heard from 1000 to 1600, and reported when it has been heard.
    if (nowMs > 1_000 && nowMs <= 1_600) {
      recorder.agent(agent.subarray(ms(nowMs - 1_020), ms(nowMs - 1_000)), nowMs - 20);
    }
  }
  await recorder.close();
  const { left, right } = read();
  expect(left).toEqual(caller);
  expect(right.subarray(0, ms(1_000)).every((sample) => sample === 0)).toBe(true);
  expect(right.subarray(ms(1_000), ms(1_600))).toEqual(agent);
  expect(right.subarray(ms(1_600)).every((sample) => sample === 0)).toBe(true);
});

test("bursts of the caller's audio do not move or break what the agent says", async () => {
  const { recorder, read } = start();
  const agent = ramp(ms(1_000), 500);
  for (let nowMs = 20; nowMs <= 4_000; nowMs += 20) {
    // Each write has 200 ms, five times a second.
    if (nowMs % 200 === 0) recorder.caller(new Int16Array(ms(200)), nowMs);
    if (nowMs > 1_000 && nowMs <= 2_000) {
      recorder.agent(agent.subarray(ms(nowMs - 1_020), ms(nowMs - 1_000)), nowMs - 20);
    }
  }
  await recorder.close();
  const { right } = read();
  const begin = right.indexOf(agent[0]!);
  expect(Math.abs(begin - ms(1_000))).toBeLessThanOrEqual(ms(20));
  expect(right.subarray(begin, begin + agent.length)).toEqual(agent);
});

test("the agent's audio takes the recording's rate, each run by itself", async () => {
  const { recorder, read } = start(24_000, 8_000);
  const tone = sine(600, 24_000, 24_000);
  for (let nowMs = 20; nowMs <= 4_000; nowMs += 20) {
    recorder.caller(new Int16Array(160), nowMs);
    const at = nowMs > 2_500 ? nowMs - 2_500 : nowMs - 500;
    if (at > 0 && at <= 1_000) recorder.agent(tone.subarray((at - 20) * 24, at * 24), nowMs - 20);
  }
  await recorder.close();
  const { right, sampleRateHz } = read();
  expect(sampleRateHz).toBe(8_000);
  for (const fromMs of [500, 2_500]) {
    const part = right.subarray((fromMs + 50) * 8, (fromMs + 950) * 8);
    const { tone: power, all } = tonePower(part, 600, 8_000);
    expect(power / all).toBeGreaterThan(0.99);
    expect(power).toBeGreaterThan(0.11);
  }
  expect(tonePower(right.subarray(1_600 * 8, 2_400 * 8), 600, 8_000).all).toBe(0);
});

test("last words that were heard after the caller's last audio are kept", async () => {
  const { recorder, read } = start();
  recorder.caller(new Int16Array(ms(500)), 500);
  recorder.agent(ramp(ms(200)), 450);
  await recorder.close();
  const { left, right } = read();
  expect(left.length).toBe(ms(650));
  expect(right.subarray(ms(450))).toEqual(ramp(ms(200)));
});

test("audio of before the file was made is not lost", async () => {
  const recordings = openMemoryRecordings();
  let made = () => {};
  const writer = new Promise<void>((resolve) => {
    made = resolve;
  }).then(() => recordings.create("c", RATE));
  const recorder = new Recorder(writer, RATE, RATE, 0);
  const caller = ramp(ms(2_000));
  for (let nowMs = 20; nowMs <= 2_000; nowMs += 20) {
    recorder.caller(caller.subarray(ms(nowMs - 20), ms(nowMs)), nowMs);
    if (nowMs === 1_000) made();
  }
  await recorder.close();
  expect(recordings.read("c").left).toEqual(caller);
});

test("a file that cannot be created is reported at the end, once", async () => {
  const recorder = new Recorder(Promise.reject(new Error("no disk")), RATE, RATE, 0);
  for (let nowMs = 20; nowMs <= 20_000; nowMs += 20) recorder.caller(new Int16Array(ms(20)), nowMs);
  await expect(recorder.close()).rejects.toThrow("no disk");
});
