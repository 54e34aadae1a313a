/** Recorded speech as the agent's voice, coming back quieter and later, with and without a user over it. */

import { describe, expect, test } from "vitest";
import { readSpeechFixture } from "../ports/testing/speech-fixtures.ts";
import { EchoEstimator } from "./echo.ts";

const RATE = 16_000;
const WINDOW = 512;
const FRAME = 320;
const ECHO = 0.5;
/** By then the delay is known: half a second of speech, and the delay itself. */
const LEARNED_MS = 1_500;

interface Scene {
  readonly agent: Int16Array;
  readonly lossDb: number;
  readonly delayMs: number;
  readonly user?: Int16Array;
  readonly userAtMs?: number;
  readonly jitterMs?: number;
}

interface Scored {
  readonly endMs: number;
  readonly echo: number;
  /** What was played at the time of this window's echo, and what the user says, in dB of full scale. */
  readonly agentDb: number;
  readonly userDb: number;
}

function listen({ agent, lossDb, delayMs, user, userAtMs = 0, jitterMs = 0 }: Scene): Scored[] {
  const estimator = new EchoEstimator(RATE, RATE);
  const gain = 10 ** (-lossDb / 20);
  const delay = (delayMs * RATE) / 1_000;
  const userAt = (userAtMs * RATE) / 1_000;
  const line = noise(agent.length + RATE, 0.001);
  const input = Int16Array.from(line, (sample, at) =>
    Math.round(sample + (agent[at - delay] ?? 0) * gain + (user?.[at - userAt] ?? 0)),
  );
  const scores: Scored[] = [];
  let played = 0;
  for (let at = 0; at + WINDOW <= input.length; at += WINDOW) {
    const endMs = ((at + WINDOW) * 1_000) / RATE;
    for (; played + FRAME <= agent.length && ((played + FRAME) * 1_000) / RATE <= endMs; played += FRAME) {
      estimator.agent(agent.subarray(played, played + FRAME), (played * 1_000) / RATE);
    }
    const late = jitterMs * ((at / WINDOW) % 2);
    const echo = estimator.window(input.subarray(at, at + WINDOW), endMs + late);
    scores.push({ endMs, echo, agentDb: loudness(agent, at - delay), userDb: loudness(user, at - userAt) });
  }
  return scores;
}

function loudness(samples: Int16Array | undefined, at: number): number {
  const part = samples?.subarray(Math.max(0, at), Math.max(0, at + WINDOW)) ?? [];
  let sum = 0;
  for (const sample of part) sum += sample * sample;
  return 10 * Math.log10(sum / WINDOW / 32_768 ** 2 + 1e-9);
}

/** The same noise in every run. */
function noise(sampleCount: number, level: number): Float32Array {
  let seed = 1;
  return Float32Array.from({ length: sampleCount }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return (seed / 2 ** 30 - 1) * level * 32_767;
  });
}

const share = (scores: readonly Scored[], is: (score: Scored) => boolean) =>
  scores.filter(is).length / scores.length;

const AGENTS = ["jfk.wav", "austen_0920.wav", "austen_long_pauses.wav"];
const USER = readSpeechFixture("goforward.wav").subarray(RATE / 2, 2.2 * RATE);

describe.each(AGENTS)("the agent says %s", (clip) => {
  const agent = readSpeechFixture(clip);

  describe.each([20, 30])("and it comes back %i dB quieter", (lossDb) => {
    test.each([40, 120, 250])("after %i ms: it is echo", (delayMs) => {
      const scores = listen({ agent, lossDb, delayMs });
      const loud = scores.filter(({ endMs, agentDb }) => endMs > LEARNED_MS && agentDb > -40);
      expect(loud.length).toBeGreaterThan(40);
      expect(share(loud, ({ echo }) => echo >= ECHO)).toBeGreaterThan(0.9);
    });

    test.each([40, 120, 250])("after %i ms: a user over it is heard", (delayMs) => {
      const scores = listen({ agent, lossDb, delayMs, user: USER, userAtMs: 3_500 });
      const spoken = scores.filter(({ endMs, userDb }) => endMs > 3_500 && userDb > -35);
      expect(spoken.length).toBeGreaterThan(20);
      expect(share(spoken, ({ echo }) => echo < ECHO)).toBeGreaterThan(0.6);
    });

    test("with a clock that trembles by 20 ms it is still echo", () => {
      const scores = listen({ agent, lossDb, delayMs: 120, jitterMs: 20 });
      const loud = scores.filter(({ endMs, agentDb }) => endMs > LEARNED_MS && agentDb > -40);
      expect(share(loud, ({ echo }) => echo >= ECHO)).toBeGreaterThan(0.8);
    });
  });

  test("and nothing comes back: a user over it is never taken for echo", () => {
    const user = readSpeechFixture("austen_0880.wav");
    const scores = listen({ agent, lossDb: 200, delayMs: 100, user, userAtMs: 1_000 });
    const spoken = scores.filter(({ userDb }) => userDb > -35);
    expect(share(spoken, ({ echo }) => echo >= ECHO)).toBeLessThan(0.05);
  });
});

test("before anything was played, and long after it, nothing is echo", () => {
  const estimator = new EchoEstimator(RATE, RATE);
  expect(estimator.window(USER.subarray(8_000, 8_000 + WINDOW), 1_000)).toBe(0);
  const agent = readSpeechFixture("austen_0930.wav");
  const later = listen({ agent: Int16Array.of(...agent, ...new Int16Array(RATE)), lossDb: 20, delayMs: 100 });
  expect(later.at(-1)?.echo).toBe(0);
});
