import { expect, it } from "vitest";
import { openClock } from "../../pacing/clock.ts";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { faultyLlm } from "../../ports/testing/engine-faults.ts";
import { openFakeLlm } from "../../ports/testing/fake-llm.ts";
import { openFakeStt } from "../../ports/testing/fake-stt.ts";
import { openFakeTts } from "../../ports/testing/fake-tts.ts";
import { openFakeVad } from "../../ports/testing/fake-vad.ts";
import { llmRequest, textOf } from "../../ports/testing/llm-conformance.ts";
import { ListedEngine } from "../../providers/engine-chain/listed-engine.ts";
import { loadConfig } from "../../config/config.ts";
import type { StoredEngines } from "../../store/deployment/engine-settings.ts";
import type { Engines } from "../engines.ts";
import { recogniserNames } from "../recognisers.ts";
import { createLiveEngines } from "./live-engines.ts";

const fast = openFakeLlm({ models: ["groq:x"] });

function open(vendorModels = [fast], llmTakesAudio = false, more: Partial<Engines> = {}) {
  const base = {
    vad: openFakeVad(),
    stt: openFakeStt(),
    llm: openFakeLlm(),
    tts: openFakeTts(),
    turnDetectors: [],
    vendorModels,
    ...more,
  };
  let stored: StoredEngines = {};
  const live = createLiveEngines({
    base,
    config: {
      stt: null,
      llm: null,
      tts: null,
      modelFields: {},
      llmTakesAudio,
      localModels: loadConfig({}).localModels,
      sttProtocol: "transcriptions",
      deepgram: null,
      fallbacks: { stt: [], llm: [], tts: [] },
      engineLimits: {
        answerLimitMs: 3_000,
        firstTokenLimitMs: 2_500,
        firstAudioLimitMs: 1_500,
        hedgeMs: null,
      },
    },
    readStored: () => Promise.resolve(stored),
    logger: { info: () => undefined, warn: () => undefined },
  });
  const store = (model: string): Promise<void> => {
    stored = { llm: { baseUrl: "http://127.0.0.1:9/v1", apiKey: null, model, voice: null } };
    return live.reload();
  };
  return { base, live, store };
}

it("adds the models of vendors to the model of the deployment, whichever that is", async () => {
  const { base, live, store } = open();
  const before = live.llm;
  expect(before.models).toEqual(["groq:x"]);
  expect(before.engineOf?.("default")).toBe(base.llm);
  await live.reload();
  expect(live.llm).toBe(before);
  await store("llama3");
  expect(live.llm.models).toEqual(["llama3", "groq:x"]);
  expect(live.llm.engineOf?.("groq:x")).toBe(fast);
  const after = live.llm;
  await live.reload();
  expect(live.llm).toBe(after);
});

it("has the model of the deployment alone where aliases name no vendor", () => {
  const { base, live } = open([]);
  expect(live.llm).toBe(base.llm);
});

it.each([true, false])("gives a stored model the caller's voice: %s", async (takesAudio) => {
  const { live, store } = open([fast], takesAudio);
  await store("ultravox");
  expect(live.llm.takesAudio?.("default")).toBe(takesAudio);
  expect(live.llm.takesAudio?.("groq:x")).toBe(false);
});

it("has lists of the default engines inside what calls can name", async () => {
  const clock = openClock();
  const other = { ...openFakeStt(), name: "deepgram" };
  const fallbacks = {
    stt: [new ListedEngine("two", openFakeStt(), clock)],
    llm: [new ListedEngine("two", openFakeLlm({ reply: "second" }), clock)],
    tts: [],
  };
  const broken = faultyLlm(() => "5xx", "");
  const { base, live, store } = open([fast], false, { llm: broken, otherRecognisers: [other], fallbacks });
  expect(live.first.stt).toBe(base.stt);
  expect(recogniserNames(live.stt)).toEqual([base.stt.name, "deepgram"]);
  expect(live.llm.engineOf?.("groq:x")).toBe(fast);
  const reply = await collect(live.llm.generate(llmRequest(), neverAborted()));
  expect([reply.error, textOf(reply.parts)]).toEqual([null, "second"]);
  expect(live.lists.reports().llm.map(({ name }) => name)).toEqual(["scripted concierge", "two"]);
  expect(live.tts).toBe(base.tts);
  const { stt } = live;
  await store("llama3");
  expect(live.lists.reports().llm.map(({ name }) => name)).toEqual(["llama3", "two"]);
  expect(live.llm.engineOf?.("groq:x")).toBe(fast);
  expect(recogniserNames(live.stt)).toEqual(recogniserNames(stt));
});
