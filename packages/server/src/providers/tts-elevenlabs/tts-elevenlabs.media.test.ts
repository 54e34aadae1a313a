import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { TtsPart } from "../../ports/tts.ts";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { providerEngine } from "../../ports/testing/provider-engine.ts";
import { describeTtsConformance, durationMsOf, samplesOf } from "../../ports/testing/tts-conformance.ts";
import { until } from "../../ports/testing/until.ts";
import type { ProviderSpeech, ProviderVoice } from "../../ports/voice-provider.ts";
import type { Fault } from "../sockets/testing/fake-speech.ts";
import { ManualTimers } from "../../ports/testing/manual-timers.ts";
import { describeSpeechFaults } from "../sockets/testing/speech-faults.ts";
import {
  type FakeElevenLabs,
  type FakeElevenLabsOptions,
  KEY,
  openFakeElevenLabs,
} from "./testing/fake-elevenlabs.ts";
import { type ElevenLabsOptions, openElevenLabs } from "./tts-elevenlabs.ts";

const VOICE: ProviderVoice<"provider1"> = { voiceId: "voice-1", stability: 0.4, speed: 1.1 };
const PCM = { sampleRateHz: 24_000, encoding: "pcm" } as const;
const TEXT = "We open at nine, and close late.";

const opened: { close(): Promise<void> }[] = [];
const fakes: FakeElevenLabs[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
  const violations = fakes.splice(0).flatMap((fake) => fake.violations);
  if (violations.length > 0) throw new Error(`the vendor does not allow: ${violations.join("; ")}`);
});

async function open(fakeOptions: FakeElevenLabsOptions = {}, options: Partial<ElevenLabsOptions> = {}) {
  const fake = await openFakeElevenLabs(fakeOptions);
  const log: string[] = [];
  const provider = openElevenLabs({
    baseUrl: fake.baseUrl,
    log: (line) => log.push(line),
    ...options,
    // A limit passes only where a test says so: the machine may be slow.
    pool: { timers: new ManualTimers(), ...options.pool },
  });
  opened.push(fake, provider);
  fakes.push(fake);
  const use = { voice: VOICE, key: KEY, output: PCM, language: null };
  const speak = (fields: Partial<ProviderSpeech<"provider1">> = {}, signal = neverAborted()) =>
    collect(provider.synthesize({ ...use, text: TEXT, ...fields }, signal));
  return { fake, provider, log, use, speak };
}

async function engine(fakeOptions: FakeElevenLabsOptions = {}) {
  const { provider, use, fake } = await open(fakeOptions);
  return { engine: providerEngine(provider, use), reached: fake.reached };
}

function wordsOf(text: string, parts: readonly TtsPart[]): string[] {
  return parts.flatMap((part) =>
    part.type === "word" ? [/\S+/.exec(text.slice(part.textOffset))?.[0] ?? ""] : [],
  );
}

const faultOnly = (fault: Fault): FakeElevenLabsOptions => ({ fault: () => fault });

describeTtsConformance("ElevenLabs", {
  open: async () => (await engine()).engine,
  language: "en",
  openHanging: () => engine(faultOnly("hang")),
  openFailing: async () => (await engine(faultOnly("server error"))).engine,
});

describeTtsConformance("ElevenLabs, split and in the other spelling,", {
  open: async () => (await engine({ splits: true, isSnakeCase: true, slowness: 3 })).engine,
  language: "en",
  openHanging: () => engine({ ...faultOnly("hang in the middle"), splits: true }),
  openFailing: async () => (await engine(faultOnly("drop in the middle"))).engine,
});

describe("ElevenLabs", () => {
  it("gives the times of words in the whole audio", async () => {
    const { speak } = await open();
    const { parts, error } = await speak();
    expect(error).toBeNull();
    const words = parts.filter((part) => part.type === "word");
    expect(wordsOf(TEXT, words)).toEqual(["We", "open", "at", "nine,", "and", "close", "late."]);
    // A word takes 40 ms and 10 ms for each character; its space comes first, except that two open the first one.
    const startsMs = words.map(({ atMs }) => Math.round(atMs));
    const expected = [0, 60, 140, 200, 290, 360, 450];
    for (const [index, startMs] of startsMs.entries())
      expect(Math.abs(startMs - (expected[index] ?? NaN))).toBeLessThanOrEqual(25);
    expect(durationMsOf(parts)).toBe(540);
  });

  it("speaks without times, and with those of the spoken text", async () => {
    const none = await (await open({ times: "none" })).speak();
    expect(none.error).toBeNull();
    expect(wordsOf(TEXT, none.parts)).toEqual([]);
    const normalized = await (await open({ times: "normalized" })).speak();
    expect(wordsOf(TEXT, normalized.parts)).toHaveLength(7);
  });

  it("asks for mu-law where it is played, and for the nearest rate else", async () => {
    const { speak, fake } = await open();
    const formats = [
      [{ sampleRateHz: 8_000, encoding: "mulaw" }, {}, "ulaw_8000", 8_000],
      [{ sampleRateHz: 16_000, encoding: "pcm" }, {}, "pcm_16000", 16_000],
      [{ sampleRateHz: 48_000, encoding: "pcm" }, {}, "pcm_24000", 24_000],
      [{ sampleRateHz: 48_000, encoding: "pcm" }, { maxSampleRate: 48_000 }, "pcm_44100", 44_100],
      [{ sampleRateHz: 48_000, encoding: "pcm" }, { maxSampleRate: 17_000 }, "pcm_16000", 16_000],
    ] as const;
    for (const [output, extra, format, rateHz] of formats) {
      const { parts, error } = await speak({ output, voice: { ...VOICE, ...extra } });
      expect(error).toBeNull();
      expect(parts.find((part) => part.type === "audio")?.sampleRateHz).toBe(rateHz);
      expect(samplesOf(parts).some((sample) => Math.abs(sample) > 7_000)).toBe(true);
      expect(fake.requests.some(({ url }) => url?.includes(`output_format=${format}`))).toBe(true);
    }
  });

  it("keeps five sentences on a socket, and one socket for each voice", async () => {
    const { speak, fake } = await open({ slowness: 5 });
    const heard = await Promise.all(Array.from({ length: 12 }, () => speak()));
    expect(heard.map(({ error }) => error)).toEqual(Array.from({ length: 12 }, () => null));
    expect(fake.connections).toHaveLength(3);
    expect(new Set(fake.contexts.map(({ context_id: id }) => id)).size).toBe(12);
    expect((await speak({ voice: { voiceId: "voice-2" } })).error).toBeNull();
    expect(fake.connections).toHaveLength(4);
  });

  it("waits for the end of an interrupted sentence before its place is used again", async () => {
    const { provider, use, fake } = await open({ slowness: 20 });
    for (let round = 0; round < 10; round += 1) {
      const abort = new AbortController();
      const { error } = await collect(
        provider.synthesize({ ...use, text: TEXT.repeat(3) }, abort.signal),
        () => {
          abort.abort();
        },
      );
      expect(error?.name).toBe("AbortError");
    }
    await until(() => fake.liveContexts === 0);
    expect(fake.closeCodes).toEqual([]);
  });

  it("opens a socket ahead, and repeats what meets a socket that was closed meanwhile", async () => {
    const { provider, use, fake, speak, log } = await open();
    provider.prepare(use);
    await until(() => fake.openCount === 1);
    expect((await speak()).error).toBeNull();
    expect(fake.connections).toHaveLength(1);
    fake.expireIdle();
    expect((await speak()).error).toBeNull();
    expect(fake.connections).toHaveLength(2);
    provider.prepare({ ...use, key: "" });
    provider.prepare({ ...use, voice: {} });
    provider.prepare({ ...use, key: "wrong-key" });
    await until(() => log.length > 0);
    expect(log).toEqual(["ElevenLabs answered HTTP 401: Invalid API key [key]"]);
  });

  it("refuses a voice without a name, a missing key, and a text that is too long", async () => {
    const { speak, fake } = await open();
    expect((await speak({ voice: {} })).error).toMatchObject({ isPermanent: true, type: "unknown_voice" });
    expect((await speak({ key: "" })).error).toMatchObject({ isPermanent: true, type: "no_key" });
    expect((await speak({ text: "a".repeat(3_001) })).error).toMatchObject({ type: "too_long" });
    expect(fake.requests).toEqual([]);
  });
});

const DIALOGUE: ProviderVoice<"provider1"> = { voiceId: "voice-1", model: "eleven_v4_turbo", stability: 0.4 };

describeTtsConformance("Eleven v4", {
  open: async () => {
    const { provider, use } = await open();
    return providerEngine(provider, { ...use, voice: DIALOGUE });
  },
  language: "en",
  openHanging: async () => {
    const { provider, use, fake } = await open(faultOnly("hang"));
    return { engine: providerEngine(provider, { ...use, voice: DIALOGUE }), reached: fake.reached };
  },
  openFailing: async () => {
    const { provider, use } = await open(faultOnly("server error"));
    return providerEngine(provider, { ...use, voice: DIALOGUE });
  },
});

describe("Eleven v3 and v4", () => {
  it("speak with the times of words, and share the sockets of a key between voices", async () => {
    const { speak, fake } = await open();
    const { parts, error } = await speak({ voice: DIALOGUE });
    expect(error).toBeNull();
    expect(wordsOf(TEXT, parts)).toEqual(["We", "open", "at", "nine,", "and", "close", "late."]);
    expect(durationMsOf(parts)).toBe(540);
    expect((await speak()).error).toBeNull();
    expect((await speak({ voice: { ...DIALOGUE, voiceId: "voice-2" } })).error).toBeNull();
    expect(fake.requests.map(({ url }) => url?.split("?")[0])).toEqual([
      "/v1/text-to-dialogue/multi-stream-input",
      "/v1/text-to-speech/voice-1/multi-stream-input",
    ]);
    expect(fake.dialogues.map(({ voices }) => voices)).toEqual([["voice-1"], ["voice-2"]]);
  });

  it("have at most five contexts on a socket, interrupted ones too", async () => {
    const { provider, use, fake } = await open({ slowness: 5 });
    const speech = { ...use, voice: DIALOGUE, text: TEXT };
    await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const abort = new AbortController();
        await collect(provider.synthesize(speech, abort.signal), () => {
          if (index % 2 === 0) abort.abort();
        });
      }),
    );
    await until(() => fake.liveContexts === 0);
    expect(fake.dialogues).toHaveLength(12);
    expect(fake.closeCodes).toEqual([]);
  });

  it("give the whole sentence where the vendor never ends its context, and leave that socket", async () => {
    const timers = new ManualTimers();
    const { speak, fake } = await open({ neverEnds: true }, { pool: { timers } });
    const answer = speak({ voice: DIALOGUE });
    await until(() => fake.dialogues.length === 1 && fake.liveContexts === 0);
    const { parts, error } = await passing(timers, answer);
    expect(error).toBeNull();
    expect(durationMsOf(parts)).toBe(540);
    await passing(
      timers,
      until(() => fake.openCount === 0),
    );
  });

  it("tell a refused voice in the vendor's words", async () => {
    const { speak } = await open({ voices: ["voice-1"] });
    const { error } = await speak({ voice: { ...DIALOGUE, voiceId: "voice-9" } });
    expect(error).toMatchObject({
      isPermanent: true,
      message: "ElevenLabs answered A voice with this id was not found.",
    });
  });

  it("close a socket before the vendor does, which waits 20 s", async () => {
    const timers = new ManualTimers();
    const { speak, fake } = await open({}, { pool: { timers } });
    expect((await speak({ voice: DIALOGUE })).error).toBeNull();
    await until(() => fake.liveContexts === 0);
    timers.pass(14_000);
    expect(fake.openCount).toBe(1);
    await passing(
      timers,
      until(() => fake.openCount === 0),
    );
  });
});

/** Lets time pass while something is awaited: ten times as fast, so that messages have the time that they need. */
async function passing<T>(timers: ManualTimers, awaited: Promise<T>): Promise<T> {
  const done = awaited.then(() => true);
  while (!(await Promise.race([done, pause(1, false)]))) timers.pass(10);
  return awaited;
}

const errorBody = (status: string) => JSON.stringify({ detail: { status, message: `Sentence for ${KEY}` } });

describeSpeechFaults({
  vendor: "ElevenLabs",
  key: KEY,
  open: async (vendor, pool = {}) => {
    const { fake, provider, use } = await open(vendor, { pool });
    return { fake, synthesize: (signal) => provider.synthesize({ ...use, text: TEXT }, signal) };
  },
  upgrades: [
    [
      "a refused key",
      { status: 401, body: errorBody("invalid_api_key") },
      { isPermanent: true, type: "401" },
    ],
    [
      "an unknown voice",
      { status: 404, body: errorBody("voice_not_found") },
      { isPermanent: true, type: "404" },
    ],
    ["429", { status: 429, body: errorBody("system_busy") }, { isPermanent: false, type: "429" }],
    ["503", { status: 503, body: "<html>no</html>" }, { isPermanent: false, type: "503" }],
    ["a hanging handshake", "hang", { isPermanent: false, type: "timeout" }],
  ],
  types: { rateLimit: "too_many_concurrent_requests", serverError: "internal_server_error" },
});

describe("ElevenLabs, when it closes the socket", () => {
  it("tells what the vendor refuses after the upgrade as permanent", async () => {
    const refusals: [string, number, string][] = [
      [
        '{"error":"invalid_api_key","message":"No such key","code":1008}',
        1_008,
        "ElevenLabs answered No such key",
      ],
      ["", 1_008, "ElevenLabs refuses the key, the voice or its settings: policy"],
    ];
    for (const [message, code, expected] of refusals) {
      const { speak, fake } = await open(faultOnly("hang"));
      const answer = speak();
      await until(() => fake.connections.length === 1);
      const { socket } = fake.connections[0]!;
      if (message !== "") socket.send(message);
      socket.close(code, "policy");
      const { error } = await answer;
      expect(error).toMatchObject({ isPermanent: true, message: expected });
    }
  });
});
