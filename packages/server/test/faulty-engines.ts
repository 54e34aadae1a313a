/**
 * Engines whose behaviour a call selects over REST: the model by its name, the voice by its name, the recogniser by the
 * language. So one running service has calls with working and with faulty engines at the same time.
 */

import type { Engines } from "../src/app/engines.ts";
import type { LlmEngine, LlmPart } from "../src/ports/llm.ts";
import type { SttEngine, SttListener } from "../src/ports/stt.ts";
import { openFakeLlm } from "../src/ports/testing/fake-llm.ts";
import { openFakeStt } from "../src/ports/testing/fake-stt.ts";
import { openFakeTts } from "../src/ports/testing/fake-tts.ts";
import { openFakeVad } from "../src/ports/testing/fake-vad.ts";
import type { TtsEngine, TtsPart, TtsRequest } from "../src/ports/tts.ts";
import { openBrokenLlm, openBrokenTts, openHangingLlm, openHangingTts } from "../src/runner/testing/fakes.ts";

/** The default model's answer to everything. */
export const REPLY = "One two three four five. Six seven eight nine ten.";
/** The default recogniser's text for everything. */
export const HEARD = "Hello there.";
/**
 * Text that is difficult for JSON, for a database and for a voice: NUL, half a surrogate pair, an escape, a line end.
 */
export const UGLY = "Fine \u0000words \ud800 and\u001b[2J more\u2028.";
/** Far more than a client or a record should ever get of one reply; the stream never ends. */
const ENDLESS_WORD = " word";

const broken = () => new Error("broken on purpose");

/** Waits one task of the event loop, so that an endless stream does not block others. */
const breath = () => new Promise((resolve) => setImmediate(resolve));

type LlmBehaviour = Pick<LlmEngine, "generate">;
type TtsBehaviour = Pick<TtsEngine, "synthesize">;
type SttBehaviour = Pick<SttEngine, "open">;

function saying(...parts: readonly LlmPart[]): LlmBehaviour {
  return {
    async *generate() {
      await breath();
      yield* parts;
    },
  };
}

const finish: LlmPart = { type: "finish", reason: "stop", inputTokens: 7, outputTokens: 7 };

const stalling: LlmBehaviour = {
  async *generate(request, signal) {
    yield { type: "text-delta", text: "This sentence is whole. This one is" };
    yield* openHangingLlm().generate(request, signal);
  },
};

const endless: LlmBehaviour = {
  async *generate(_request, signal) {
    while (!signal.aborted) {
      yield { type: "text-delta", text: ENDLESS_WORD };
      await breath();
    }
  },
};

/** Fails the first request with this system prompt, and no later one. */
function flaky(): LlmBehaviour {
  const requested = new Set<string>();
  const good = openFakeLlm({ reply: REPLY });
  return {
    generate: (request, signal) => {
      if (requested.has(request.systemPrompt)) return good.generate({ ...request, model: "default" }, signal);
      requested.add(request.systemPrompt);
      throw broken();
    },
  };
}

function models(): Readonly<Record<string, LlmBehaviour>> {
  return {
    hangs: openHangingLlm(),
    fails: openBrokenLlm(),
    "breaks-off": {
      async *generate() {
        await breath();
        yield { type: "text-delta", text: "Half a" };
        throw broken();
      },
    },
    stalls: stalling,
    "ends-early": saying({ type: "text-delta", text: "Without an" }),
    speechless: saying(finish),
    punctuation: saying({ type: "text-delta", text: "… —  * \n\n ?! " }, finish),
    "invents-tools": saying(
      { type: "tool-call", call: { id: "1", name: "launch", arguments: {} } },
      { type: "text-delta", text: "Text beside it." },
      finish,
    ),
    "goes-on": saying({ type: "text-delta", text: "It is said." }, finish, {
      type: "text-delta",
      text: "This is not.",
    }),
    ugly: saying({ type: "text-delta", text: UGLY }, finish),
    endless,
    flaky: flaky(),
  };
}

function speaking(parts: (request: TtsRequest) => readonly TtsPart[]): TtsBehaviour {
  return {
    async *synthesize(request) {
      await breath();
      yield* parts(request);
    },
  };
}

function tone(sampleRateHz: number): TtsPart {
  const samples = Int16Array.from({ length: 8_000 }, (_, i) => 8_000 * Math.sin(i / 5));
  return { type: "audio", samples, sampleRateHz };
}

function voices(): Readonly<Record<string, TtsBehaviour>> {
  return {
    // Ten words a second: for tests that wait for the end of what is said.
    quick: openFakeTts({ wordMs: 100, voices: ["quick"] }),
    hangs: openHangingTts(false),
    "hangs-midway": withoutVoice(openHangingTts(true)),
    fails: openBrokenTts(),
    "breaks-off": withoutVoice(openFakeTts({ wordMs: 100, failure: broken })),
    silent: speaking(() => []),
    "rate-zero": speaking(() => [tone(0)]),
    "rate-changing": speaking(() => [tone(16_000), tone(24_000)]),
    "words-anywhere": speaking(() => [
      { type: "word", textOffset: 9_999, atMs: -5 },
      { type: "word", textOffset: -3, atMs: Number.NaN },
      tone(16_000),
      { type: "word", textOffset: 0.5, atMs: 1e12 },
      tone(16_000),
    ]),
  };
}

/** The engines know their own default voice only. */
function withoutVoice(engine: TtsEngine): TtsBehaviour {
  return {
    synthesize: (request, signal) => engine.synthesize({ ...request, voice: null }, signal),
  };
}

/** Answers for utterances and revisions that were not requested, twice, with far too much, besides a good answer. */
function babbling(): SttBehaviour {
  return {
    open: (_options, listener) => {
      const babble: SttListener = {
        ...listener,
        final: (utteranceId, revision, text, understood) => {
          listener.partial(utteranceId + 50, "of another");
          listener.final(utteranceId + 50, 1, "Of another.", true);
          listener.final(utteranceId, revision + 50, "Of a later one.", true);
          listener.final(utteranceId, -1, UGLY, false);
          listener.partial(utteranceId, "x".repeat(1_000_000));
          listener.final(utteranceId, revision, text, understood);
          listener.final(utteranceId, revision, "Said twice.", true);
          listener.failed(utteranceId, revision, broken());
        },
      };
      return openFakeStt({ says: () => UGLY }).open({ language: null }, babble);
    },
  };
}

function recognisers(): Readonly<Record<string, SttBehaviour>> {
  return {
    "x-hangs": openFakeStt({ broken: "hangs" }),
    "x-fails": openFakeStt({ broken: "fails" }),
    "x-opens-not": openFakeStt({ opensNot: true }),
    "x-deaf": openFakeStt({ says: () => "" }),
    "x-babbles": babbling(),
    "x-slow": openFakeStt({ delayMs: 300, says: () => HEARD }),
  };
}

export function openFaultyEngines(): Engines {
  const llm = openFakeLlm({ reply: REPLY });
  const tts = openFakeTts({ wordMs: 200 });
  const stt = openFakeStt({ says: () => HEARD });
  const llms = models();
  const ttses = voices();
  const stts = recognisers();
  return {
    vad: openFakeVad(),
    turnDetectors: [],
    llm: {
      ...llm,
      models: Object.keys(llms),
      generate: (request, signal) => (llms[request.model] ?? llm).generate(request, signal),
    },
    tts: {
      ...tts,
      voices: Object.keys(ttses),
      synthesize: (request, signal) => (ttses[request.voice ?? ""] ?? tts).synthesize(request, signal),
    },
    stt: {
      ...stt,
      open: (options, listener) => (stts[options.language ?? ""] ?? stt).open(options, listener),
    },
  };
}
