import { describe, expect, it } from "vitest";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import {
  faultyLlm,
  faultyStt,
  faultyTts,
  FAULTS,
  isInTheMiddle,
  type Fault,
} from "../../ports/testing/engine-faults.ts";
import { openFakeLlm } from "../../ports/testing/fake-llm.ts";
import { openFakeStt } from "../../ports/testing/fake-stt.ts";
import { openFakeTts } from "../../ports/testing/fake-tts.ts";
import { describeLlmConformance, llmRequest, textOf } from "../../ports/testing/llm-conformance.ts";
import { describeSttConformance, SttRecord } from "../../ports/testing/stt-conformance.ts";
import { describeTtsConformance, durationMsOf, ttsRequest } from "../../ports/testing/tts-conformance.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import { settle } from "../../runner/testing/manual-clock.ts";
import { ANSWER_LIMIT_MS } from "./stt-chain.ts";
import { llmOf, openWorld, over, pass, sttOf, ttsOf } from "./testing/chain-world.ts";
import { AUDIO_STALL_MS } from "./tts-chain.ts";

const broken = () => new Error("broken on purpose");
const lastText = ({ messages }: { messages: readonly { text: string }[] }): string =>
  `You said: ${messages.at(-1)?.text ?? "nothing at all"}`;

describeLlmConformance("a list of models", {
  open: () => {
    const model = openFakeLlm({ reply: lastText, models: ["other"] });
    return llmOf(openWorld(), [model, openFakeLlm({ reply: "another" })]);
  },
  requests: [llmRequest(), llmRequest({ messages: [{ role: "user", text: "one two" }] })],
  openHanging: () => ({
    engine: llmOf(openWorld(), [openFakeLlm({ wordDelayMs: 3_600_000 }), openFakeLlm()]),
    reached: Promise.resolve(),
  }),
  openFailing: () => llmOf(openWorld(), [openFakeLlm({ failure: broken }), openFakeLlm({ failure: broken })]),
});

describeLlmConformance("a list of models whose first one fails", {
  open: () => llmOf(openWorld(), [faultyLlm(() => "5xx", ""), openFakeLlm({ reply: lastText })]),
  requests: [llmRequest(), llmRequest({ messages: [{ role: "user", text: "one two" }] })],
});

describeTtsConformance("a list of voices", {
  open: () => ttsOf(openWorld(), [openFakeTts({ voices: ["high", "low"] }), openFakeTts()]),
  language: "en",
  openHanging: () => ({
    engine: ttsOf(openWorld(), [openFakeTts({ wordDelayMs: 3_600_000 }), openFakeTts()]),
    reached: Promise.resolve(),
  }),
  openFailing: () => ttsOf(openWorld(), [openFakeTts({ failure: broken }), openFakeTts({ failure: broken })]),
});

describeTtsConformance("a list of voices whose first one fails", {
  open: () => ttsOf(openWorld(), [faultyTts(() => "5xx"), openFakeTts()]),
  language: "en",
});

describeTtsConformance("a list of voices whose first one breaks off", {
  open: () => ttsOf(openWorld(), [faultyTts(() => "drop in the middle"), openFakeTts()]),
  language: "en",
});

const firstSample = (_utterance: number, samples: Int16Array): string =>
  ({ 1: "one", 2: "two" })[samples[0] ?? 0] ?? "";
const recogniser = () => openFakeStt({ says: firstSample });
const spoken = [
  { samples: new Int16Array(8_000).fill(1), text: "one" },
  { samples: new Int16Array(8_000).fill(2), text: "two" },
] as const;
const sttSubject = {
  spoken,
  unintelligible: new Int16Array(8_000).fill(3),
  openHanging: () => ({
    engine: sttOf(openWorld(), [openFakeStt({ broken: "hangs" }), openFakeStt({ broken: "hangs" })]),
    reached: Promise.resolve(),
  }),
  openFailing: () => sttOf(openWorld(), [openFakeStt({ broken: "fails" }), openFakeStt({ broken: "fails" })]),
};

describeSttConformance("a list of recognisers", {
  ...sttSubject,
  open: () => sttOf(openWorld(), [recogniser(), openFakeStt({ broken: "fails" })]),
});
describeSttConformance("a list of recognisers whose first one fails", {
  ...sttSubject,
  open: () => sttOf(openWorld(), [openFakeStt({ broken: "fails" }), recogniser()]),
});
describeSttConformance("a list of recognisers whose first one does not open", {
  ...sttSubject,
  open: () => sttOf(openWorld(), [openFakeStt({ opensNot: true }), recogniser()]),
});

const early = FAULTS.filter((fault) => !isInTheMiddle(fault));
const late = FAULTS.filter(isInTheMiddle);

describe("a model with the fault", () => {
  it.each(early)("%s is replaced in the same request, and is the last choice of this call", async (fault) => {
    const world = openWorld();
    const first = faultyLlm(() => fault, "One.");
    const second = faultyLlm(() => null, "Two is what I say.", "second");
    const chain = llmOf(world, [first, second]);
    const { user } = world;
    const { parts, error } = await over(
      world.clock,
      chain.generate(llmRequest({ user, model: "default" }), neverAborted()),
    );
    expect([error, textOf(parts)]).toEqual([null, "Two is what I say."]);
    expect(world.steps).toMatchObject([{ from: "first", to: "second" }]);
    await over(world.clock, chain.generate(llmRequest({ user }), neverAborted()));
    expect([first.requests, second.requests, world.steps.length]).toEqual([1, 2, 1]);
    expect(world.used).toEqual(["llm first failed", "llm second answered", "llm second answered"]);
  });

  it.each(late)("%s fails after its words, and the next request goes to the other model", async (fault) => {
    const world = openWorld();
    const chain = llmOf(world, [
      faultyLlm(() => fault, "One two three four five six."),
      faultyLlm(() => null, "Seven eight.", "second"),
    ]);
    const { user } = world;
    const abort = new AbortController();
    const cut = collect(chain.generate(llmRequest({ user }), abort.signal));
    // The call gives up a model that stops.
    await pass(world.clock, 5_000);
    abort.abort();
    const { parts, error } = await cut;
    expect(error).not.toBeNull();
    expect(textOf(parts)).toBe("One two three four");
    const next = await over(world.clock, chain.generate(llmRequest({ user }), neverAborted()));
    expect(textOf(next.parts)).toBe("Seven eight.");
    expect(world.steps).toMatchObject([{ from: "first", to: "second" }]);
  });
});

it("a model that a user interrupts has not failed", async () => {
  const world = openWorld();
  const first = faultyLlm(() => "hang before the first byte", "One.");
  const chain = llmOf(world, [first, faultyLlm(() => null, "Two.", "second")]);
  const abort = new AbortController();
  const cut = collect(chain.generate(llmRequest({ user: world.user }), abort.signal));
  await world.clock.advance(500);
  abort.abort();
  expect((await cut).error?.name).toBe("AbortError");
  expect([world.failed, world.used]).toEqual([[], ["llm first overtaken"]]);
});

it("says that all engines have failed, and that asking again is no use where all refuse", async () => {
  for (const [fault, isPermanent] of [
    ["5xx", false],
    ["refused key", true],
  ] as const) {
    const world = openWorld();
    const chain = llmOf(world, [faultyLlm(() => fault, ""), faultyLlm(() => "refused key", "")]);
    const { error } = await over(world.clock, chain.generate(llmRequest(), neverAborted()));
    expect(error).toMatchObject({ isExhausted: true, isPermanent, type: "401" });
  }
});

it("a model that was out is tried again after its rest, by one request, and then serves all", async () => {
  const world = openWorld();
  let fault: Fault | null = "5xx";
  const first = faultyLlm(() => fault, "One.");
  const chain = llmOf(world, [first, faultyLlm(() => null, "Two.", "second")]);
  const say = async () =>
    textOf((await over(world.clock, chain.generate(llmRequest(), neverAborted()))).parts);
  for (let count = 0; count < 5; count += 1) expect(await say()).toBe("Two.");
  expect(first.requests).toBe(3);
  fault = null;
  await world.clock.advance(10_000);
  expect([await say(), await say()]).toEqual(["One.", "One."]);
});

it("hedges: another model is asked as well when the first one is late, and the loser is cancelled", async () => {
  const world = openWorld();
  const first = faultyLlm(() => "hang before the first byte", "");
  const chain = llmOf(world, [first, faultyLlm(() => null, "Two.", "second")], 300);
  const answer = collect(chain.generate(llmRequest({ user: world.user }), neverAborted()));
  await world.clock.advance(299);
  expect(world.used).toEqual([]);
  await world.clock.advance(1);
  expect(textOf((await answer).parts)).toBe("Two.");
  expect(world.used).toEqual(["llm first overtaken", "llm second answered"]);
  expect([world.failed, world.clock.pending()]).toEqual([[], 0]);
});

describe("a voice with the fault", () => {
  it.each(early)("%s is replaced within the sentence, by a voice of its own", async (fault) => {
    const world = openWorld();
    const first = { ...faultyTts(() => fault), voices: ["anna"] };
    const asked: (string | null)[] = [];
    const works = openFakeTts();
    const second: TtsEngine = {
      ...works,
      synthesize: (request, signal) => {
        asked.push(request.voice);
        return works.synthesize(request, signal);
      },
    };
    const chain = ttsOf(world, [first, second]);
    const request = ttsRequest("One two three.", { voice: "anna", user: world.user });
    const { parts, error } = await over(world.clock, chain.synthesize(request, neverAborted()));
    expect([error, durationMsOf(parts)]).toEqual([null, 900]);
    expect(asked).toEqual([null]);
    await over(world.clock, chain.synthesize(request, neverAborted()));
    expect(asked).toHaveLength(2);
    expect(world.steps).toMatchObject([{ from: "first", to: "second" }]);
  });

  it.each(late)(
    "%s is replaced within the sentence: the other one says the rest, at most 1 s after what was heard",
    async (fault) => {
      const world = openWorld();
      const asked: string[] = [];
      const works = faultyTts(() => null, "second");
      const second: TtsEngine = {
        ...works,
        synthesize: (request, signal) => {
          asked.push(request.text);
          return openFakeTts().synthesize(request, signal);
        },
      };
      const chain = ttsOf(world, [faultyTts(() => fault), second]);
      const { user } = world;
      const say = (text: string) =>
        over(world.clock, chain.synthesize(ttsRequest(text, { user }), neverAborted()));
      const beganMs = world.clock.nowMs();
      const { parts, error } = await say("One two three four.");
      expect([error, durationMsOf(parts)]).toEqual([null, 1_200]);
      expect(asked).toEqual(["three four."]);
      expect(parts.flatMap((part) => (part.type === "word" ? [[part.textOffset, part.atMs]] : []))).toEqual([
        [0, 0],
        [4, 300],
        [8, 600],
        [14, 900],
      ]);
      // `over` moves the clock by 100 ms between two looks, also while promises go on.
      expect(world.clock.nowMs() - beganMs).toBeLessThanOrEqual(600 + AUDIO_STALL_MS + 300);
      expect(durationMsOf((await say("Five six.")).parts)).toBe(600);
      expect(asked).toEqual(["three four.", "Five six."]);
      expect(world.steps).toMatchObject([{ from: "first", to: "second" }]);
      expect(world.used).toEqual(["tts first failed", "tts second answered", "tts second answered"]);
    },
  );

  it("in the middle of it, and so has each other one: it fails with what was said", async () => {
    const world = openWorld();
    const chain = ttsOf(world, [
      faultyTts(() => "drop in the middle"),
      faultyTts(() => "5xx", "second"),
      faultyTts(() => "drop in the middle", "third"),
    ]);
    const request = ttsRequest("One two three four five six.", { user: world.user });
    const { parts, error } = await over(world.clock, chain.synthesize(request, neverAborted()));
    expect(durationMsOf(parts)).toBe(1_200);
    expect(error).toMatchObject({ isExhausted: false, isPermanent: false });
    expect(world.steps.map(({ to }) => to)).toEqual(["second", "third"]);
  });
});

it("a voice that works on sentences one after the other is not late with the second", async () => {
  const world = openWorld();
  const { clock } = world;
  let free = Promise.resolve();
  const works = openFakeTts();
  const serial: TtsEngine = {
    ...works,
    async *synthesize(request, signal) {
      const before = free;
      const done = Promise.withResolvers<void>();
      free = done.promise;
      await before;
      await new Promise<void>((resolve) => void clock.after(1_000, resolve));
      yield* works.synthesize(request, signal);
      done.resolve();
    },
  };
  const chain = ttsOf(world, [serial, faultyTts(() => null, "second")]);
  const request = ttsRequest("One two.", { user: world.user });
  const all = [1, 2, 3].map(() => collect(chain.synthesize(request, neverAborted())));
  await pass(clock, 6_000);
  expect((await Promise.all(all)).map(({ error }) => error)).toEqual([null, null, null]);
  expect([world.failed, world.steps]).toEqual([[], []]);
});

describe("a recogniser with the fault", () => {
  it.each(early)("%s is replaced, and the next one gets all of the audio", async (fault) => {
    const world = openWorld();
    const first = faultyStt(() => fault, "wrong");
    const second = openFakeStt({ says: (_utterance, samples) => `${String(samples.length)} samples` });
    const chain = sttOf(world, [first, second]);
    const record = new SttRecord();
    const stream = chain.open({ language: "en", user: world.user }, record);
    stream.open(1);
    stream.push(1, new Int16Array(16_000));
    stream.push(1, new Int16Array(8_000));
    stream.request(1, 1);
    stream.push(1, new Int16Array(1_600));
    await world.clock.advance(ANSWER_LIMIT_MS);
    expect(record.answers).toMatchObject([{ type: "final", revision: 1 }]);
    stream.request(1, 2);
    await world.clock.advance(0);
    expect(record.answers[1]).toMatchObject({ revision: 2, text: "25600 samples" });
    expect(first.requests).toBe(1);
    expect(world.steps).toMatchObject([{ from: "first", to: "second" }]);
    stream.close();
    expect([second.openStreams(), world.clock.pending()]).toEqual([0, 0]);
  });
});

it("a request that a newer one has overtaken is no failure of the recogniser", async () => {
  const world = openWorld();
  const works = openFakeStt({ broken: "hangs" });
  const chain = sttOf(world, [
    {
      ...works,
      open: (options, listener) => ({
        ...works.open(options, listener),
        open: () => undefined,
        push: () => undefined,
        abandon: () => undefined,
        close: () => undefined,
        request: (utteranceId, revision) => {
          if (revision === 2) queueMicrotask(() => listener.failed(utteranceId, 1, new Error("overtaken")));
          if (revision === 3) queueMicrotask(() => listener.final(utteranceId, 3, "all", true));
        },
      }),
    },
    openFakeStt(),
  ]);
  const record = new SttRecord();
  const stream = chain.open({ language: null, user: world.user }, record);
  stream.open(1);
  for (const revision of [1, 2, 3]) stream.request(1, revision);
  await settle();
  expect(record.answers).toMatchObject([
    { type: "failed", revision: 1 },
    { type: "final", revision: 3 },
  ]);
  expect([world.failed, world.steps]).toEqual([[], []]);
});
