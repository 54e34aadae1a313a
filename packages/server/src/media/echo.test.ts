/** Recorded speech as the agent's voice, coming back quieter and later, with and without a user over it. */

import { describe, expect, test } from "vitest";
import { readSpeechFixture } from "../ports/testing/speech-fixtures.ts";
import { ECHO_UNKNOWN, EchoEstimator } from "./echo.ts";
import { decodeMulaw, encodeMulaw } from "./g711.ts";
import { concat } from "./testing/signals.ts";

const RATE = 16_000;
const WINDOW = 512;
const FRAME = 320;
const ECHO = 0.5;
/** The delay is known by then: half a second of speech, and the delay itself. */
const LEARNED_MS = 1_500;

interface Scene {
  readonly agent: Int16Array;
  readonly lossDb: number;
  readonly delayMs: number;
  readonly user?: Int16Array;
  readonly userAtMs?: number;
  readonly jitterMs?: number;
  /** Over a phone line: 8 kHz and mu-law in both directions. */
  readonly isPhone?: boolean;
}

interface Scored {
  readonly endMs: number;
  readonly echo: number;
  /** What was played at the time of this window's echo, and what the user says, in dB of full scale. */
  readonly agentDb: number;
  readonly userDb: number;
}

function listen(scene: Scene): Scored[] {
  const { agent, lossDb, delayMs, user, userAtMs = 0, jitterMs = 0, isPhone = false } = scene;
  const estimator = new EchoEstimator(isPhone ? RATE / 2 : RATE, RATE);
  const gain = 10 ** (-lossDb / 20);
  const delay = (delayMs * RATE) / 1_000;
  const userAt = (userAtMs * RATE) / 1_000;
  const line = noise(agent.length + RATE, 0.001);
  const heard = Int16Array.from(line, (sample, at) =>
    Math.round(sample + (agent[at - delay] ?? 0) * gain + (user?.[at - userAt] ?? 0)),
  );
  const input = isPhone ? widened(codedNarrow(heard)) : heard;
  const scores: Scored[] = [];
  let played = 0;
  for (let at = 0; at + WINDOW <= input.length; at += WINDOW) {
    const endMs = ((at + WINDOW) * 1_000) / RATE;
    for (; played + FRAME <= agent.length && ((played + FRAME) * 1_000) / RATE <= endMs; played += FRAME) {
      const frame = agent.subarray(played, played + FRAME);
      estimator.agent(isPhone ? codedNarrow(frame) : frame, (played * 1_000) / RATE);
    }
    const late = jitterMs * ((at / WINDOW) % 2);
    const echo = estimator.window(input.subarray(at, at + WINDOW), endMs + late);
    scores.push({ endMs, echo, agentDb: loudness(agent, at - delay), userDb: loudness(user, at - userAt) });
  }
  return scores;
}

/** At half the rate, as mu-law has it. */
function codedNarrow(samples: Int16Array): Int16Array {
  const narrow = Int16Array.from({ length: samples.length / 2 }, (_, at) =>
    Math.round(((samples[2 * at] ?? 0) + (samples[2 * at + 1] ?? 0)) / 2),
  );
  return decodeMulaw(encodeMulaw(narrow));
}

/** At twice the rate, by straight lines. */
function widened(samples: Int16Array): Int16Array {
  return Int16Array.from({ length: samples.length * 2 }, (_, at) => {
    const half = Math.floor(at / 2);
    const here = samples[half] ?? 0;
    return at % 2 === 0 ? here : Math.round((here + (samples[half + 1] ?? here)) / 2);
  });
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

const share = <T>(scores: readonly T[], is: (score: T) => boolean) =>
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

  describe.each([20, 30])("over a phone line, and it comes back %i dB quieter", (lossDb) => {
    test.each([40, 120, 250])("after %i ms: it is echo", (delayMs) => {
      const scores = listen({ agent, lossDb, delayMs, isPhone: true });
      const loud = scores.filter(({ endMs, agentDb }) => endMs > LEARNED_MS && agentDb > -40);
      expect(loud.length).toBeGreaterThan(40);
      expect(share(loud, ({ echo }) => echo >= ECHO)).toBeGreaterThan(0.9);
    });

    test("after 120 ms: a user over it is heard", () => {
      const scores = listen({ agent, lossDb, delayMs: 120, user: USER, userAtMs: 3_500, isPhone: true });
      const spoken = scores.filter(({ endMs, userDb }) => endMs > 3_500 && userDb > -35);
      expect(spoken.length).toBeGreaterThan(20);
      expect(share(spoken, ({ echo }) => echo < ECHO)).toBeGreaterThan(0.6);
    });
  });

  test("and nothing comes back: a user over it is never taken for echo", () => {
    const user = readSpeechFixture("austen_0880.wav");
    const scores = listen({ agent, lossDb: 200, delayMs: 100, user, userAtMs: 1_000 });
    const spoken = scores.filter(({ userDb }) => userDb > -35);
    expect(share(spoken, ({ echo }) => echo >= ECHO)).toBeLessThan(0.05);
  });
});

test.each([
  ["a second on a quiet line", undefined, 1_700],
  ["two while somebody speaks", readSpeechFixture("austen_0880.wav"), 3_000],
] as const)(
  "the first windows of the agent's voice may be echo; without one, no more after %s",
  (_, user, toMs) => {
    const scores = listen({
      agent: readSpeechFixture("austen_0920.wav"),
      lossDb: 200,
      delayMs: 100,
      ...(user && { user }),
    });
    const first = scores.filter(({ endMs }) => endMs > 450 && endMs < 900);
    expect(first.every(({ echo }) => echo === ECHO_UNKNOWN)).toBe(true);
    const later = scores.filter(({ endMs }) => endMs > toMs);
    expect(later.every(({ echo }) => echo === 0)).toBe(true);
  },
);

describe("a voice that is never louder than -50 dB", () => {
  const loud = readSpeechFixture("austen_0920.wav");
  const steps = Array.from({ length: Math.floor(loud.length / WINDOW) }, (_, at) =>
    loudness(loud, at * WINDOW),
  );
  const gain = 10 ** ((-50 - Math.max(...steps)) / 20);
  const agent = loud.map((sample) => Math.round(sample * gain));

  test("of which nothing comes back is known to have no echo after 2.5 s of it that are audible", () => {
    const scores = listen({ agent, lossDb: 200, delayMs: 100, user: USER, userAtMs: 4_000 });
    const first = scores.filter(({ endMs }) => endMs > 450 && endMs < 2_000);
    expect(first.every(({ echo }) => echo === ECHO_UNKNOWN)).toBe(true);
    const later = scores.filter(({ endMs }) => endMs > 4_000);
    expect(later.length).toBeGreaterThan(60);
    expect(later.every(({ echo }) => echo === 0)).toBe(true);
  });
});

test.each([20, 30])("the noise after an echo %i dB quieter is nobody's speech, a user in it is", (lossDb) => {
  const agent = readSpeechFixture("austen_0920.wav");
  const silent = concat([agent.subarray(0, 5.8 * RATE), new Int16Array(2 * RATE)]);
  const endMs = 5_800 + 120;
  const tail = (scores: readonly Scored[]) =>
    scores.filter((score) => score.endMs > endMs && score.endMs < endMs + 200);
  const alone = tail(listen({ agent: silent, lossDb, delayMs: 120 }));
  expect(alone.every(({ echo }) => echo >= ECHO)).toBe(true);
  const spoken = tail(listen({ agent: silent, lossDb, delayMs: 120, user: USER, userAtMs: endMs - 100 }));
  expect(share(spoken, ({ echo }) => echo < ECHO)).toBeGreaterThan(0.6);
});

test("before anything was played, and long after it, nothing is echo", () => {
  const estimator = new EchoEstimator(RATE, RATE);
  expect(estimator.window(USER.subarray(8_000, 8_000 + WINDOW), 1_000)).toBe(0);
  const agent = readSpeechFixture("austen_0930.wav");
  const later = listen({ agent: Int16Array.of(...agent, ...new Int16Array(RATE)), lossDb: 20, delayMs: 100 });
  expect(later.at(-1)?.echo).toBe(0);
});

describe("windows of the time in which nothing was known", () => {
  const judgedAgain = (user: Int16Array | undefined) => {
    const agent = readSpeechFixture("austen_0920.wav");
    const estimator = new EchoEstimator(RATE, RATE);
    const line = noise(agent.length, 0.001);
    let played = 0;
    for (let at = 0; at + WINDOW <= agent.length; at += WINDOW) {
      for (; played + FRAME <= at + WINDOW; played += FRAME)
        estimator.agent(agent.subarray(played, played + FRAME), (played * 1_000) / RATE);
      const heard = Int16Array.from({ length: WINDOW }, (_, n) =>
        Math.round((line[at + n] ?? 0) + (agent[at + n - 1_920] ?? 0) / 10 + (user?.[at + n] ?? 0)),
      );
      estimator.window(heard, ((at + WINDOW) * 1_000) / RATE);
      const judged = estimator.takeJudgedAgain();
      if (judged !== null) return { judged, again: estimator.takeJudgedAgain() };
    }
    return null;
  };

  test("are echo, when only the agent was there", () => {
    const found = judgedAgain(undefined);
    expect(found?.again).toBeNull();
    expect(found?.judged.length).toBeGreaterThan(10);
    // In the first 120 ms nothing could come back yet: four windows.
    expect(found?.judged.filter((likelihood) => likelihood < 0.25).length).toBeLessThanOrEqual(4);
  });

  test("are not, where the user has spoken", () => {
    // The first half second of the user's voice, over the agent's first sounds.
    const found = judgedAgain(USER.slice(0, RATE / 2));
    expect(found?.judged.filter((likelihood) => likelihood < 0.25).length).toBeGreaterThanOrEqual(6);
  });
});
