/** What calls on a manual clock use of their engines, in all and for each turn, and what that costs. */

import nodeProcess from "node:process";
import { beforeAll, expect, test, vi } from "vitest";
import type { CallEngineSums, CallUseRecord } from "@parley/schema";
import { openEngineMeter } from "../src/app/costs/engine-meter.ts";
import { createVoiceKeys } from "../src/app/voices/voice-keys.ts";
import { createVoices } from "../src/app/voices/call-voices.ts";
import type { PriceTable } from "../src/config/prices.ts";
import { initResampler } from "../src/media/resample.ts";
import { abortError } from "../src/pacing/abort.ts";
import type { LlmEngine } from "../src/ports/llm.ts";
import type { SttEngine } from "../src/ports/stt.ts";
import type { TtsEngine } from "../src/ports/tts.ts";
import { faultyLlm } from "../src/ports/testing/engine-faults.ts";
import { openFakeLlm } from "../src/ports/testing/fake-llm.ts";
import { openFakeStt } from "../src/ports/testing/fake-stt.ts";
import { openFakeToolInvoker } from "../src/ports/testing/fake-tool-invoker.ts";
import { openFakeTts } from "../src/ports/testing/fake-tts.ts";
import { openFakeVad } from "../src/ports/testing/fake-vad.ts";
import { openFakeVoiceProvider } from "../src/ports/testing/fake-voice-provider.ts";
import type { ListObserver } from "../src/providers/engine-chain/engine-list.ts";
import { ListedEngine } from "../src/providers/engine-chain/listed-engine.ts";
import { FIRST_TOKEN_LIMIT_MS, openLlmChain } from "../src/providers/engine-chain/llm-chain.ts";
import { FIRST_AUDIO_LIMIT_MS } from "../src/providers/engine-chain/tts-chain.ts";
import { openCallWorld } from "../src/runner/testing/call-world.ts";
import { openLateClock } from "../src/runner/testing/late-clock.ts";
import { openHangingLlm, openHangingTts } from "../src/runner/testing/fakes.ts";
import { openMemoryRecordings } from "../src/runner/testing/memory-recordings.ts";
import { noStages } from "../src/runner/testing/no-stages.ts";
import type { PlanChanges } from "../src/runner/testing/plan.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

const GREETING = "Welcome, how can I help you today?";
const REPLY = "This is what the fake model always says.";
/** Of both; a voice gets no spaces between its sentences. */
const LETTERS = `${GREETING}${REPLY}`.replaceAll(" ", "").length;
const KEY = "sk-0123456789abcdef";
const MICRO = 1_000n;

/** A dollar for a million characters, and so on: the costs in 1e-6 dollars are the amounts. */
const TABLE: PriceTable = {
  currency: "USD",
  prices: [
    {
      kind: "llm",
      engine: "first",
      model: "*",
      inputNanos: 1_000_000n * MICRO,
      cachedInputNanos: 0n,
      outputNanos: 2_000_000n * MICRO,
    },
    { kind: "stt", engine: "ears", model: "*", minuteNanos: 60n * 1_000_000n },
    { kind: "tts", engine: "mouth", model: "*", charactersNanos: 1_000_000n * MICRO, minuteNanos: 0n },
  ],
};

interface Given {
  readonly stt?: SttEngine;
  readonly llm?: LlmEngine;
  readonly second?: LlmEngine;
  readonly tts?: TtsEngine;
  /** Takes over from the vendor's voice. */
  readonly spare?: TtsEngine;
  readonly prices?: PriceTable | null;
  /** The key of the account. */
  readonly key?: string;
}

/** A model that counts its tokens. */
function countingLlm(): LlmEngine {
  const llm = openFakeLlm({ reply: REPLY });
  return {
    ...llm,
    async *generate(request, signal) {
      for await (const part of llm.generate(request, signal))
        yield part.type === "finish"
          ? { ...part, inputTokens: 100, cachedInputTokens: 60, outputTokens: 9 }
          : part;
    },
  };
}

function openWorld({ stt, llm, second, tts, spare, prices = TABLE, key = KEY }: Given = {}) {
  const { clock: later, begin } = openLateClock();
  const meter = openEngineMeter(prices, later);
  const all: string[] = [];
  meter.watch(({ kind, engine, outcome }) => void all.push(`${kind} ${engine} ${outcome}`));
  const model = meter.llm(llm ?? countingLlm(), "first");
  const observer: ListObserver = { used: () => undefined, failed: () => undefined };
  const chain = (other: LlmEngine): LlmEngine =>
    openLlmChain({
      clock: later,
      observer,
      engines: [
        new ListedEngine("first", model, later),
        new ListedEngine("second", meter.llm(other, "second"), later),
      ],
      firstTokenLimitMs: FIRST_TOKEN_LIMIT_MS,
      hedgeMs: null,
    });
  const engines = {
    vad: openFakeVad(),
    stt: meter.stt(stt ?? { ...openFakeStt(), repeatsAudio: true }, "ears"),
    llm: second === undefined ? model : chain(second),
    tts: meter.tts(tts ?? openFakeTts(), "mouth"),
  };
  const keys = createVoiceKeys({ readAccountKey: async () => key, deployment: {}, nowMs: () => 0 });
  const vendor = openFakeVoiceProvider({ kind: "provider2", key: KEY });
  const voices = createVoices({
    providers: { provider2: vendor },
    keys,
    health: null,
    meter,
    fallback: () =>
      spare === undefined
        ? null
        : {
            engines: [new ListedEngine("spare", meter.tts(spare, "spare"), later)],
            clock: later,
            observer,
            firstAudioLimitMs: FIRST_AUDIO_LIMIT_MS,
          },
  });
  const world = openCallWorld(
    engines,
    openMemoryRecordings(),
    openFakeToolInvoker(),
    noStages,
    null,
    voices,
    prices?.currency ?? null,
  );
  begin(world.clock);
  return { ...world, all };
}

type World = ReturnType<typeof openWorld>;

/** The opening, one spoken turn with its answer, and a hang-up. */
async function converse(world: World, changes: PlanChanges = {}): Promise<CallUseRecord | null> {
  const { transport, hear } = await world.joined(changes);
  await hear(5_000, false);
  await hear(1_000, true);
  await hear(9_000, false);
  return hangUp(world, transport);
}

async function hangUp(world: World, transport: { lose(regular: boolean, code: number): void }) {
  transport.lose(true, 1000);
  await world.clock.advance(1_000);
  const [end] = world.records.ends;
  if (end === undefined) throw new Error("the call has not ended");
  return end.record.use ?? null;
}

const engineOf = (use: CallUseRecord | null, engine: string): CallEngineSums => {
  const found = use?.engines.find((one) => one.engine === engine);
  if (found === undefined) throw new Error(`${engine} was not used`);
  return found;
};

const turnsOf = ({ records }: World) =>
  records.events.flatMap(({ event }) => (event.type === "engines.used" ? [event] : []));

test("a call has the requests, amounts and costs of each engine, and each turn its part", async () => {
  const world = openWorld();
  const use = await converse(world);
  expect(use?.currency).toBe("USD");
  expect(use?.engines.map(({ kind, engine }) => `${kind} ${engine}`)).toEqual([
    "tts mouth",
    "stt ears",
    "llm first",
  ]);
  const llm = engineOf(use, "first");
  expect(llm).toMatchObject({
    provider: "fake",
    model: null,
    failures: 0,
    dropped: 0,
    inputTokens: 100 * llm.requests,
    cachedInputTokens: 60 * llm.requests,
    outputTokens: 9 * llm.requests,
    uncounted: 0,
    unpriced: 0,
    costNanos: (40 + 18) * 1_000 * llm.requests,
  });
  const ears = engineOf(use, "ears");
  expect(ears.requests).toBeGreaterThan(0);
  expect(ears.heardMs).toBeGreaterThan(1_000 * ears.requests);
  expect(ears.costNanos).toBe(ears.heardMs * 1_000);
  const mouth = engineOf(use, "mouth");
  expect(mouth.characters).toBeGreaterThanOrEqual(LETTERS);
  // The fake has 300 ms for each of the 15 words.
  expect(mouth.spokenMs).toBeGreaterThanOrEqual(15 * 300);
  expect(mouth).toMatchObject({ costNanos: mouth.characters * 1_000, failures: 0, unpriced: 0 });

  const turns = turnsOf(world);
  const completed = world.records.events.find(({ event }) => event.type === "turn.completed")?.event;
  expect(turns.map(({ extras }) => extras?.["turnId"])).toEqual([null, completed?.extras?.["turnId"]]);
  expect(turns.every(({ severity }) => severity === "debug")).toBe(true);
  // Without what is 0 or null.
  expect(turns[0]?.extras).toEqual({
    turnId: null,
    engines: [
      {
        kind: "tts",
        engine: "mouth",
        provider: "fake",
        requests: expect.any(Number) as number,
        characters: expect.any(Number) as number,
        spoken: "2.1s",
        cost: expect.stringMatching(/^0\.00003/) as string,
      },
    ],
    cost: {
      amount: expect.stringMatching(/^0\.00003/) as string,
      currency: "USD",
      isComplete: true,
      withoutPrice: [],
    },
  });
  const total = use?.engines.reduce((sum, { costNanos }) => sum + costNanos, 0) ?? 0;
  const ofTurns = turns.map(({ extras }) => extras?.["cost"]) as readonly { readonly amount: string }[];
  expect(ofTurns.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 1e9), 0)).toBe(total);
  expect(world.all.filter((line) => line.startsWith("llm"))).toHaveLength(llm.requests);
});

test("without prices a call has amounts, and no costs", async () => {
  const world = openWorld({ prices: null });
  const use = await converse(world);
  expect(use?.currency).toBeNull();
  expect(use?.engines.map(({ costNanos }) => costNanos)).toEqual([0, 0, 0]);
  expect(turnsOf(world).map(({ extras }) => Object.keys(extras ?? {}))).toEqual([
    ["turnId", "engines"],
    ["turnId", "engines"],
  ]);
});

test("a sentence that an interruption has cut off was asked for, and counts", async () => {
  const world = openWorld({ tts: openHangingTts(true) });
  const { transport, hear } = await world.joined();
  await hear(1_000, false);
  await hear(1_500, true);
  await hear(1_000, false);
  const use = await hangUp(world, transport);
  const mouth = engineOf(use, "mouth");
  expect(mouth.dropped).toBe(mouth.requests);
  expect(mouth.requests).toBeGreaterThan(1);
  expect(mouth.characters).toBeGreaterThan(0);
  // One word of each, and perhaps none of the last.
  expect(mouth.spokenMs).toBeGreaterThan(0);
  expect(mouth.spokenMs).toBeLessThanOrEqual(300 * mouth.requests);
  expect(mouth.costNanos).toBe(mouth.characters * 1_000);
});

test("a model that breaks off within a reply, and the one that goes on, both count", async () => {
  const world = openWorld({
    llm: faultyLlm(() => "drop in the middle", "The first model says this and that and more."),
    second: countingLlm(),
  });
  const use = await converse(world);
  const first = engineOf(use, "first");
  expect(first).toMatchObject({ failures: first.requests, uncounted: first.requests, inputTokens: 0 });
  // Nobody knows what the broken reply cost, and the second model has no price but runs here.
  expect(first).toMatchObject({ unpriced: first.requests, costNanos: 0 });
  const second = engineOf(use, "second");
  expect(second).toMatchObject({ failures: 0, unpriced: 0, inputTokens: 100 * second.requests });
  const cost = turnsOf(world).at(-1)?.extras?.["cost"];
  expect(cost).toMatchObject({ isComplete: false, withoutPrice: ["first"] });
});

test("a reply that was begun early and dropped counts, although nobody knows its tokens", async () => {
  let requests = 0;
  const counting = countingLlm();
  const llm: LlmEngine = {
    ...counting,
    async *generate(request, signal) {
      requests += 1;
      if (requests > 1) yield* counting.generate(request, signal);
      else
        await new Promise<never>((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(abortError()), { once: true });
        });
    },
  };
  const world = openWorld({ llm });
  const { transport, hear } = await world.joined();
  await hear(5_000, false);
  await hear(1_000, true);
  await hear(320, false);
  await hear(800, true);
  await hear(9_000, false);
  const use = await hangUp(world, transport);
  expect(engineOf(use, "first")).toMatchObject({
    requests,
    dropped: 1,
    failures: 0,
    uncounted: 1,
    unpriced: 1,
    inputTokens: 100 * (requests - 1),
  });
  // The dropped request is a part of the turn that it was for.
  const [, turn] = turnsOf(world);
  expect(turn?.extras?.["engines"]).toEqual(
    expect.arrayContaining([expect.objectContaining({ kind: "llm", dropped: 1 })]),
  );
});

const voice = {
  kind: "external",
  provider: "provider2",
  settings: { voiceId: "v", model: "turbo" },
  key: "account",
  voiceId: null,
} as const;

test("an external voice is named by its vendor and its model, without a price of the deployment's voice", async () => {
  const use = await converse(openWorld(), { stage: { voice } });
  expect(engineOf(use, "Fake provider2")).toMatchObject({
    kind: "tts",
    provider: "Fake provider2",
    model: "turbo",
    failures: 0,
    costNanos: 0,
  });
  expect(engineOf(use, "Fake provider2").characters).toBeGreaterThanOrEqual(LETTERS);
  expect(engineOf(use, "Fake provider2").unpriced).toBeGreaterThan(0);
  expect(JSON.stringify(use)).not.toContain(KEY);
  expect(use?.engines.some(({ engine }) => engine === "mouth")).toBe(false);
});

test("a voice that refuses its key has failed without amounts, and the voice in its place counts", async () => {
  const world = openWorld({ key: "another key" });
  const use = await converse(world, { stage: { voice } });
  const vendor = engineOf(use, "Fake provider2");
  expect(vendor).toMatchObject({ failures: vendor.requests, characters: 0, costNanos: 0, unpriced: 0 });
  expect(vendor.requests).toBeGreaterThan(0);
  expect(engineOf(use, "mouth").characters).toBeGreaterThan(0);
});

test("a voice of the list that takes over from an external one counts", async () => {
  const world = openWorld({ key: "another key", spare: openFakeTts() });
  const use = await converse(world, { stage: { voice } });
  const vendor = engineOf(use, "Fake provider2");
  expect(vendor).toMatchObject({ failures: vendor.requests, characters: 0, unpriced: 0 });
  expect(vendor.requests).toBeGreaterThan(0);
  expect(engineOf(use, "spare").characters).toBeGreaterThanOrEqual(LETTERS);
});

const additionalMessages = [{ role: "MESSAGE_ROLE_USER", text: "Look for rooms." }];
const SPAWN = JSON.stringify({ type: "spawn_thread", newThreadId: "research", additionalMessages });
const userFirst: PlanChanges = { firstSpeaker: { kind: "user", fallback: null } };

test("what a side thread asks of the model counts for the call, and for no turn", async () => {
  const world = openWorld();
  const { transport, hear } = await world.joined(userFirst);
  await hear(100, false);
  transport.read(SPAWN);
  const types = () => transport.messages.map(({ type }) => type);
  await vi.waitFor(() => expect(types()).toContain("side_generation_completed"), 60_000);
  const use = await hangUp(world, transport);
  expect(engineOf(use, "first")).toMatchObject({
    requests: 1,
    dropped: 0,
    inputTokens: 100,
    outputTokens: 9,
  });
  expect(turnsOf(world)).toEqual([]);
});

test("a side thread that the end of the call stops counts as dropped, behind a list of models too", async () => {
  const world = openWorld({ llm: openHangingLlm(), second: countingLlm() });
  const { transport, hear } = await world.joined(userFirst);
  await hear(100, false);
  transport.read(SPAWN);
  await world.clock.advance(100);
  const use = await hangUp(world, transport);
  expect(engineOf(use, "first")).toMatchObject({ requests: 1, failures: 0, dropped: 1, uncounted: 1 });
});

test("a call that nobody joined has used nothing", async () => {
  const world = openWorld();
  world.create({ joinTimeoutMs: 1_000 });
  await world.clock.advance(3_000);
  expect(world.records.ends.map(({ record }) => record.use)).toEqual([null]);
});
