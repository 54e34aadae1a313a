import { beforeEach, describe, expect, it } from "vitest";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { PricedUse, UseListener } from "../../ports/engine-use.ts";
import type { LlmEngine, LlmPart } from "../../ports/llm.ts";
import type { SttEngine, SttListener } from "../../ports/stt.ts";
import type { TtsEngine, TtsPart } from "../../ports/tts.ts";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { openFakeLlm } from "../../ports/testing/fake-llm.ts";
import { openFakeStt } from "../../ports/testing/fake-stt.ts";
import { openFakeTts } from "../../ports/testing/fake-tts.ts";
import { llmRequest } from "../../ports/testing/llm-conformance.ts";
import { ttsRequest } from "../../ports/testing/tts-conformance.ts";
import type { MeterParts } from "./engine-meter.ts";
import { meteredLlm } from "./metered-llm.ts";
import { meteredStt } from "./metered-stt.ts";
import { meteredTts } from "./metered-tts.ts";

let nowMs = 0;
let all: PricedUse[] = [];
let own: PricedUse[] = [];
let open = 0;

const parts: MeterParts = {
  clock: { nowMs: () => nowMs },
  costOf: (use) => use.requests * 5,
  used: (use) => void all.push(use),
};
const meter: UseListener = {
  begun: () => void (open += 1),
  used: (use) => {
    own.push(use);
    open -= use.requests;
  },
};

beforeEach(() => {
  nowMs = 0;
  [all, own, open] = [[], [], 0];
});

const server = { address: "models.example", port: 443 };
const FINISH: LlmPart = {
  type: "finish",
  reason: "stop",
  inputTokens: 30,
  outputTokens: 4,
  cachedInputTokens: 20,
};

/** A model that takes 40 ms for each part. */
function llmOf(given: readonly (LlmPart | Error)[], models: readonly string[] = []): LlmEngine {
  return {
    ...openFakeLlm({ models }),
    name: "openai",
    model: "small",
    server,
    async *generate() {
      for (const part of given) {
        nowMs += 40;
        await Promise.resolve();
        if (part instanceof Error) throw part;
        yield part;
      }
    },
  };
}

function iteratorOf<Part>(parts: AsyncIterable<Part>): AsyncIterator<Part> {
  return parts[Symbol.asyncIterator]();
}

const text: LlmPart = { type: "text-delta", text: "Yes." };

describe("a request to a model", () => {
  it("is reported with its name, tokens, time to the first part and cost, to its call and to all", async () => {
    const llm = meteredLlm(llmOf([text, text, FINISH]), "first choice", parts);
    for await (const part of llm.generate(llmRequest({ meter }), neverAborted())) {
      // The runner leaves with this part.
      if (part.type === "finish") break;
    }
    expect(own).toEqual([
      {
        kind: "llm",
        engine: "first choice",
        provider: "openai",
        model: "small",
        isLocal: false,
        requests: 1,
        outcome: "answered",
        latencyMs: 40,
        inputTokens: 30,
        cachedInputTokens: 20,
        outputTokens: 4,
        heardMs: 0,
        characters: 0,
        spokenMs: 0,
        isUncounted: false,
        costNanos: 5,
      },
    ]);
    expect([all, open]).toEqual([own, 0]);
  });

  it("has the model that it names, where the engine has several", async () => {
    const llm = meteredLlm(llmOf([FINISH], ["small", "large"]), "x", parts);
    await collect(llm.generate(llmRequest({ model: "large" }), neverAborted()));
    await collect(llm.generate(llmRequest(), neverAborted()));
    const alias = meteredLlm(llmOf([FINISH], ["groq:small"]), "x", parts);
    await collect(alias.generate(llmRequest({ model: "groq:small" }), neverAborted()));
    expect(all.map(({ model }) => model)).toEqual(["large", "small", "small"]);
  });

  it("that failed before its first part has used nothing, later nobody knows", async () => {
    const failure = new EngineFailure("wrong key", { isPermanent: true });
    for (const given of [[failure], [text, failure]]) {
      const { error } = await collect(
        meteredLlm(llmOf(given), "x", parts).generate(llmRequest({ meter }), neverAborted()),
      );
      expect(error).toBe(failure);
    }
    expect(own.map(({ outcome, isUncounted, latencyMs }) => [outcome, isUncounted, latencyMs])).toEqual([
      ["failed", false, null],
      ["failed", true, 40],
    ]);
  });

  it("that was aborted is reported at once, as a failure if a list gave it up for its delay", async () => {
    for (const reason of [undefined, new EngineFailure("too late", { type: "timeout" })]) {
      const controller = new AbortController();
      const before = own.length;
      const llm = meteredLlm(llmOf([text, text, FINISH]), "x", parts);
      const reply = iteratorOf(llm.generate(llmRequest({ meter }), controller.signal));
      await reply.next();
      controller.abort(reason);
      expect(own).toHaveLength(before + 1);
      await reply.next();
      await reply.return?.();
    }
    expect(own.map(({ outcome, isUncounted }) => [outcome, isUncounted])).toEqual([
      ["dropped", true],
      ["failed", true],
    ]);
    expect(open).toBe(0);
  });

  it("that was aborted before it began is none", async () => {
    const llm = meteredLlm(openFakeLlm(), "x", parts);
    await collect(llm.generate(llmRequest({ meter }), AbortSignal.abort()));
    expect([own, open]).toEqual([[], 0]);
  });

  it("of which the server counts only a part is not counted", async () => {
    const llm = meteredLlm(llmOf([text, { ...FINISH, outputTokens: null }]), "x", parts);
    await collect(llm.generate(llmRequest(), neverAborted()));
    expect(all).toMatchObject([{ inputTokens: 30, outputTokens: 0, isUncounted: true }]);
  });
});

describe("a request to a voice", () => {
  it("has characters and audio, also when it is left early", async () => {
    const tts = meteredTts(openFakeTts({ wordMs: 300 }), "eSpeak NG", parts);
    await collect(tts.synthesize(ttsRequest("Zwölf 🙂 Uhr.", { meter }), neverAborted()));
    for await (const part of tts.synthesize(ttsRequest("One two three.", { meter }), neverAborted()))
      if (part.type === "audio") break;
    const figures = own.map(({ characters, spokenMs, outcome }) => [characters, spokenMs, outcome]);
    expect(figures).toEqual([
      [12, 900, "answered"],
      [14, 300, "dropped"],
    ]);
    expect(own[0]).toMatchObject({ kind: "tts", engine: "eSpeak NG", provider: "fake", isLocal: true });
  });

  it("that failed before its audio has used nothing", async () => {
    const broken: TtsEngine = {
      ...openFakeTts(),
      // eslint-disable-next-line require-yield -- it fails before its first part
      async *synthesize(): AsyncGenerator<TtsPart> {
        throw new EngineFailure("HTTP 401", { isPermanent: true });
      },
    };
    await collect(meteredTts(broken, "x", parts).synthesize(ttsRequest("Hello.", { meter }), neverAborted()));
    expect(own).toMatchObject([{ outcome: "failed", characters: 0, spokenMs: 0, requests: 1 }]);
  });
});

const nothing: SttListener = {
  partial: () => undefined,
  final: () => undefined,
  failed: () => undefined,
  warned: () => undefined,
};
const second = new Int16Array(16_000);

describe("an utterance at a recogniser", () => {
  function openStream(engine: SttEngine, listener = nothing) {
    return meteredStt(engine, "ears", parts).open({ language: null, meter: () => meter }, listener);
  }

  it("counts all of its audio with each request, where that is sent again", async () => {
    const stream = openStream({ ...openFakeStt(), repeatsAudio: true });
    stream.open(1);
    stream.push(1, second);
    stream.request(1, 1);
    await new Promise((resolve) => setImmediate(resolve));
    stream.push(1, second);
    stream.request(1, 2);
    stream.abandon(1);
    expect(own.map(({ heardMs, outcome }) => [heardMs, outcome])).toEqual([
      [1_000, "answered"],
      [2_000, "dropped"],
    ]);
    expect(open).toBe(0);
  });

  it("counts its audio once, where that is sent while it is spoken", async () => {
    const stream = openStream(openFakeStt());
    stream.open(1);
    stream.push(1, second);
    stream.request(1, 1);
    await new Promise((resolve) => setImmediate(resolve));
    stream.push(1, second);
    stream.request(1, 2);
    await new Promise((resolve) => setImmediate(resolve));
    stream.push(1, second);
    stream.close();
    expect(own.map(({ heardMs, outcome, requests }) => [heardMs, outcome, requests])).toEqual([
      [1_000, "answered", 1],
      [1_000, "answered", 1],
      [1_000, "dropped", 0],
    ]);
  });

  it("has the delay of its transcript, and no audio where the recogniser failed", async () => {
    const waits = openStream(openFakeStt({ broken: "hangs" }));
    waits.open(1);
    waits.push(1, second);
    waits.request(1, 1);
    waits.close();
    const fails = openStream(openFakeStt({ broken: "fails" }));
    fails.open(1);
    fails.push(1, second);
    fails.request(1, 1);
    await new Promise((resolve) => setImmediate(resolve));
    fails.close();
    const answers = openStream(openFakeStt(), { ...nothing, final: () => undefined });
    answers.open(1);
    answers.push(1, second);
    answers.request(1, 1);
    nowMs = 250;
    await new Promise((resolve) => setImmediate(resolve));
    expect(own.map(({ heardMs, outcome, latencyMs }) => [heardMs, outcome, latencyMs])).toEqual([
      [1_000, "dropped", null],
      [0, "failed", null],
      [1_000, "answered", 250],
    ]);
  });
});
