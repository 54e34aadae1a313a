/** Calls on a manual clock whose engines are lists: what the caller hears and what the record says of each fault. */

import nodeProcess from "node:process";
import { beforeAll, describe, expect, test } from "vitest";
import { initResampler } from "../src/media/resample.ts";
import { ListedEngine } from "../src/providers/engine-chain/listed-engine.ts";
import { FIRST_TOKEN_LIMIT_MS, openLlmChain } from "../src/providers/engine-chain/llm-chain.ts";
import { ANSWER_LIMIT_MS, openSttChain } from "../src/providers/engine-chain/stt-chain.ts";
import {
  AUDIO_STALL_MS,
  FIRST_AUDIO_LIMIT_MS,
  openTtsChain,
} from "../src/providers/engine-chain/tts-chain.ts";
import {
  faultyLlm,
  faultyStt,
  faultyTts,
  FAULTS,
  isInTheMiddle,
  type Fault,
} from "../src/ports/testing/engine-faults.ts";
import { openFakeVad } from "../src/ports/testing/fake-vad.ts";
import { openCallWorld } from "../src/runner/testing/call-world.ts";
import { openLateClock } from "../src/runner/testing/late-clock.ts";
import type { PlanChanges } from "../src/runner/testing/plan.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

const GREETING = "Welcome, how can I help you today?";
const FIRST_REPLY = "The first model says this and that and more.";
const SECOND_REPLY = "Number two speaks.";
const MOMENT = "One moment, please.";
const LOUD = 300;
/** The caller may hear silence for so long after the failure of an engine. */
const SILENCE_LIMIT_MS = 1_000;

type Broken = Partial<Record<"stt" | "llm" | "tts", Fault | null>>;

/** Two engines of each kind; `first` and `second` may change while the call runs. */
function openWorld(first: Broken, second: Broken = {}) {
  const { clock: later, begin } = openLateClock();
  const used: string[] = [];
  const list = {
    clock: later,
    observer: {
      used: (kind: string, engine: string, outcome: string) => void used.push(`${kind} ${engine} ${outcome}`),
      failed: () => undefined,
    },
  };
  const pair = <Engine>(one: Engine, other: Engine) =>
    [new ListedEngine("first", one, later), new ListedEngine("second", other, later)] as const;
  // With a server, so that it may fail and sentences are prepared.
  const remote = { server: { address: "voices.example", port: 443 } };
  const engines = {
    vad: openFakeVad(),
    stt: openSttChain({
      ...list,
      engines: pair(
        faultyStt(() => first.stt ?? null, "Hello there."),
        faultyStt(() => second.stt ?? null, "Hello there.", "second"),
      ),
      answerLimitMs: ANSWER_LIMIT_MS,
    }),
    llm: openLlmChain({
      ...list,
      engines: pair(
        faultyLlm(() => first.llm ?? null, FIRST_REPLY),
        faultyLlm(() => second.llm ?? null, SECOND_REPLY, "second"),
      ),
      firstTokenLimitMs: FIRST_TOKEN_LIMIT_MS,
      hedgeMs: null,
    }),
    tts: openTtsChain({
      ...list,
      engines: pair(
        { ...faultyTts(() => first.tts ?? null), ...remote },
        faultyTts(() => second.tts ?? null, "second"),
      ),
      firstAudioLimitMs: FIRST_AUDIO_LIMIT_MS,
    }),
  };
  const world = openCallWorld(engines);
  begin(world.clock);
  return { ...world, used };
}

type World = ReturnType<typeof openWorld>;

async function joinedCall(world: World, changes: PlanChanges = {}) {
  const { transport, hear } = await world.joined(changes);
  /** Lets the caller be silent or speak; for each 20 ms whether the agent was heard. */
  const listen = async (ms: number, loud = false): Promise<boolean[]> => {
    const heard: boolean[] = [];
    for (let at = 0; at < ms; at += 20) {
      const before = transport.frames.length;
      await hear(20, loud);
      heard.push(
        transport.frames.slice(before).some((frame) => frame.some((sample) => Math.abs(sample) > LOUD)),
      );
    }
    return heard;
  };
  const said = (role: string) =>
    world.records.messages.flatMap(({ message }) => (message.role === role ? [message] : []));
  /** Messages are recorded again when they change: the last text of each. */
  const texts = (role: string) => [...new Map(said(role).map(({ index, text }) => [index, text])).values()];
  const events = () => world.records.events.map(({ event }) => event.type);
  const flush = async () => {
    world.journal.isBroken = false;
    await world.clock.advance(1_000);
  };
  return { listen, texts, events, flush, transport };
}

/** Silence before the first sound. */
function quietMs(heard: readonly boolean[]): number {
  const at = heard.indexOf(true);
  expect(at, "the agent was heard").toBeGreaterThanOrEqual(0);
  return at * 20;
}

function longestQuietMs(heard: readonly boolean[]): number {
  let longest = 0;
  let quiet = 0;
  for (const sounds of heard) {
    quiet = sounds ? 0 : quiet + 20;
    longest = Math.max(longest, quiet);
  }
  return longest;
}

/** One question and its answer. */
async function turn(call: Awaited<ReturnType<typeof joinedCall>>) {
  await call.listen(5_000);
  await call.listen(1_000, true);
  return call.listen(14_000);
}

async function normalWaitMs(): Promise<number> {
  return quietMs(await turn(await joinedCall(openWorld({}))));
}

/** How long the failure itself takes: a hanging engine is given up after its limit. */
const detectionMs = (fault: Fault, limitMs: number): number => (fault.startsWith("hang") ? limitMs : 0);

const early = FAULTS.filter((fault) => !isInTheMiddle(fault));
const late = FAULTS.filter(isInTheMiddle);

describe("the model of a call with the fault", () => {
  test.each(early)("%s: the caller hears the other one, and the call has no errors", async (fault) => {
    const world = openWorld({ llm: fault });
    const call = await joinedCall(world);
    const waitMs = quietMs(await turn(call));
    await call.flush();
    expect(waitMs - (await normalWaitMs()) - detectionMs(fault, FIRST_TOKEN_LIMIT_MS)).toBeLessThanOrEqual(
      SILENCE_LIMIT_MS,
    );
    expect(call.texts("agent")).toEqual([GREETING, SECOND_REPLY]);
    expect(call.events()).toContain("llm.replaced");
    expect(call.events()).not.toContain("llm.failed");
  });

  test.each(late)("%s: the other one goes on, and nothing heard is said again", async (fault) => {
    const world = openWorld({ llm: fault });
    const call = await joinedCall(world);
    await turn(call);
    await call.flush();
    const [, ...replies] = call.texts("agent");
    expect(replies.at(-1)).toBe(SECOND_REPLY);
    expect(replies.join(" ").match(/The first model/g)?.length ?? 0).toBeLessThanOrEqual(1);
    expect(call.events()).toContain("llm.failed");
    expect(call.events()).toContain("llm.replaced");
    expect(world.used).toContain("llm first failed");
  });
});

describe("the voice of a call with the fault", () => {
  test.each(early)("%s: the caller hears the whole greeting by the other one", async (fault) => {
    const world = openWorld({ tts: fault });
    const call = await joinedCall(world);
    const waitMs = quietMs(await call.listen(6_000));
    await call.flush();
    expect(waitMs - detectionMs(fault, FIRST_AUDIO_LIMIT_MS)).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
    expect(call.texts("agent")).toEqual([GREETING]);
    expect(call.events()).toContain("tts.replaced");
    expect(call.events()).not.toContain("tts.failed");
  });

  test.each(late)("%s: the rest of the sentence is said by the other one", async (fault) => {
    const world = openWorld({ tts: fault });
    const call = await joinedCall(world);
    const heard = await call.listen(8_000);
    await call.flush();
    expect(call.texts("agent")).toEqual([GREETING]);
    expect(call.events()).toContain("tts.replaced");
    expect(call.events()).not.toContain("tts.failed");
    // Seven words of 240 ms with pauses of 60 ms: nothing is said twice, and nothing is left out.
    const soundMs = heard.filter(Boolean).length * 20;
    expect(soundMs).toBeGreaterThan(7 * 200);
    expect(soundMs).toBeLessThanOrEqual(7 * 300);
    const from = heard.indexOf(true);
    const gap = longestQuietMs(heard.slice(from, heard.lastIndexOf(true)));
    // A voice that stops has failed a second after its last sound.
    const noticedMs = fault.startsWith("hang") ? AUDIO_STALL_MS : 0;
    expect(gap - noticedMs).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
  });
});

describe("the recogniser of a call with the fault", () => {
  test.each(early)("%s: the caller is understood by the other one", async (fault) => {
    const world = openWorld({ stt: fault });
    const call = await joinedCall(world);
    const waitMs = quietMs(await turn(call));
    await call.flush();
    expect(waitMs - (await normalWaitMs()) - detectionMs(fault, ANSWER_LIMIT_MS)).toBeLessThanOrEqual(
      SILENCE_LIMIT_MS,
    );
    expect(call.texts("user")).toEqual(["Hello there."]);
    expect(call.texts("agent")).toEqual([GREETING, FIRST_REPLY]);
    expect(call.events()).toContain("stt.replaced");
    expect(call.events()).not.toContain("stt.failed");
  });
});

describe("a call whose engines all fail", () => {
  test("the models: the caller is asked for patience at once, and is answered when one works", async () => {
    const first: Broken = {};
    const world = openWorld(first, { llm: "5xx" });
    const call = await joinedCall(world);
    await call.listen(5_000);
    first.llm = "5xx";
    await call.listen(1_000, true);
    const waitMs = quietMs(await call.listen(3_000));
    expect(waitMs - (await normalWaitMs())).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
    first.llm = null;
    await call.listen(9_000);
    await call.flush();
    expect(call.texts("agent")).toEqual([GREETING, MOMENT, FIRST_REPLY]);
  });

  test("the models by hanging: the caller is asked for patience within a second of the last limit", async () => {
    const first: Broken = {};
    const world = openWorld(first, { llm: "hang before the first byte" });
    const call = await joinedCall(world);
    await call.listen(5_000);
    first.llm = "hang before the first byte";
    await call.listen(1_000, true);
    const waitMs = quietMs(await call.listen(2 * FIRST_TOKEN_LIMIT_MS + 3_000));
    expect(waitMs - (await normalWaitMs()) - 2 * FIRST_TOKEN_LIMIT_MS).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
    first.llm = null;
    await call.listen(12_000);
    await call.flush();
    expect(call.texts("agent")).toEqual([GREETING, MOMENT, FIRST_REPLY]);
  });

  test.each(["5xx", "hang before the first byte"] as const)(
    "the recognisers (%s): the caller is asked for patience, and is understood when one works",
    async (fault) => {
      const first: Broken = { stt: fault };
      const world = openWorld(first, { stt: fault });
      const call = await joinedCall(world);
      const heard = await turn(call);
      const waitMs = quietMs(heard) - 2 * detectionMs(fault, ANSWER_LIMIT_MS);
      expect(waitMs - (await normalWaitMs())).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
      first.stt = null;
      await call.listen(12_000);
      await call.flush();
      expect(call.texts("user")).toEqual(["Hello there."]);
      expect(call.texts("agent")).toEqual([GREETING, MOMENT, FIRST_REPLY]);
      expect(call.events()).toContain("stt.failed");
      expect(world.records.ends).toEqual([]);
    },
  );

  test("the recognisers for good: an apology at once", async () => {
    const world = openWorld({ stt: "refused key" }, { stt: "refused key" });
    const call = await joinedCall(world);
    await turn(call);
    await call.flush();
    expect(call.texts("agent").at(-1)).toMatch(/^I am sorry, I have a technical problem/);
    expect(call.texts("agent")).not.toContain(MOMENT);
    expect(world.records.ends[0]?.record.reason).toBe("system_error");
  });

  test("the voices by hanging: the caller hears what was prepared", async () => {
    const first: Broken = {};
    const second: Broken = {};
    const world = openWorld(first, second);
    const call = await joinedCall(world);
    await call.listen(5_000);
    first.tts = "hang before the first byte";
    second.tts = "hang before the first byte";
    await call.listen(1_000, true);
    const waitMs = quietMs(await call.listen(2 * FIRST_AUDIO_LIMIT_MS + 3_000));
    expect(waitMs - (await normalWaitMs()) - 2 * FIRST_AUDIO_LIMIT_MS).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
  });

  test("the models for good: an apology at once", async () => {
    const world = openWorld({ llm: "refused key" }, { llm: "refused key" });
    const call = await joinedCall(world);
    await turn(call);
    await call.flush();
    expect(call.texts("agent").at(-1)).toMatch(/^I am sorry, I have a technical problem/);
    expect(world.records.ends[0]?.record.reason).toBe("system_error");
  });

  test("the voices: the caller hears what was prepared, and the end is an apology", async () => {
    const first: Broken = {};
    const second: Broken = {};
    const world = openWorld(first, second);
    const call = await joinedCall(world);
    await call.listen(5_000);
    first.tts = "5xx";
    second.tts = "429";
    await call.listen(1_000, true);
    const heard = await call.listen(3_000);
    expect(quietMs(heard) - (await normalWaitMs())).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
    first.tts = "refused key";
    second.tts = "refused key";
    await call.listen(1_000, true);
    const last = await call.listen(9_000);
    await call.flush();
    expect(last).toContain(true);
    expect(call.events()).toContain("tts.failed");
    expect(world.records.ends[0]?.record.reason).toBe("system_error");
    expect(call.texts("agent").at(-1)).toMatch(/^I am sorry, I have a technical problem/);
  });
});
