import { afterEach, describe, expect, it } from "vitest";
import type { TtsPart } from "../../ports/tts.ts";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { providerEngine } from "../../ports/testing/provider-engine.ts";
import { describeTtsConformance, durationMsOf, samplesOf } from "../../ports/testing/tts-conformance.ts";
import { until } from "../../ports/testing/until.ts";
import type { ProviderSpeech, ProviderVoice } from "../../ports/voice-provider.ts";
import type { Fault } from "../sockets/testing/fake-speech.ts";
import { ManualTimers } from "../sockets/testing/manual-timers.ts";
import type { UpgradeAnswer } from "../sockets/testing/socket-server.ts";
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

interface Expected {
  readonly isPermanent: boolean;
  readonly type: string;
}

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

describe("ElevenLabs, when something fails", () => {
  const body = (status: string) => JSON.stringify({ detail: { status, message: `Sentence for ${KEY}` } });
  const upgrades: [string, UpgradeAnswer, Expected][] = [
    ["a refused key", { status: 401, body: body("invalid_api_key") }, { isPermanent: true, type: "401" }],
    ["an unknown voice", { status: 404, body: body("voice_not_found") }, { isPermanent: true, type: "404" }],
    ["429", { status: 429, body: body("system_busy") }, { isPermanent: false, type: "429" }],
    ["503", { status: 503, body: "<html>no</html>" }, { isPermanent: false, type: "503" }],
    ["a hanging handshake", "hang", { isPermanent: false, type: "timeout" }],
  ];

  it.each(upgrades)("tells %s at the upgrade", async (_name, answer, expected) => {
    const { speak } = await open(
      { upgrade: () => answer },
      { pool: answer === "hang" ? { handshakeLimitMs: 50 } : {} },
    );
    const { parts, error } = await speak();
    expect(parts).toEqual([]);
    expect(error).toMatchObject({ name: "EngineFailure", ...expected });
    expect(error?.message).toMatch(/^ElevenLabs /);
    expect(error?.message).not.toContain(KEY);
  });

  const faults: [Fault, Expected][] = [
    ["rate limit", { isPermanent: false, type: "too_many_concurrent_requests" }],
    ["server error", { isPermanent: false, type: "internal_server_error" }],
    ["hang", { isPermanent: false, type: "timeout" }],
    ["hang in the middle", { isPermanent: false, type: "timeout" }],
    ["garbage", { isPermanent: false, type: "garbage" }],
    ["garbage in the audio", { isPermanent: false, type: "garbage" }],
    ["binary", { isPermanent: false, type: "garbage" }],
    ["drop", { isPermanent: false, type: "closed" }],
    ["drop in the middle", { isPermanent: false, type: "closed" }],
    ["no audio", { isPermanent: false, type: "no_audio" }],
  ];

  it.each(faults)("tells a %s", async (fault, expected) => {
    let isFaulty = true;
    const timers = new ManualTimers();
    const { provider, use, speak, fake } = await open(
      { fault: () => (isFaulty ? fault : null) },
      { pool: { timers } },
    );
    let isSettled = false;
    let isHanging = false;
    const answer = collect(provider.synthesize({ ...use, text: TEXT }, neverAborted()), () => {
      isHanging = fault === "hang in the middle";
    }).finally(() => (isSettled = true));
    if (fault === "hang") {
      await fake.reached;
      isHanging = true;
    }
    await until(() => {
      if (isHanging) timers.pass(10_000);
      return isSettled;
    });
    const { parts, error } = await answer;
    expect(durationMsOf(parts) > 0).toBe(fault.endsWith("in the middle"));
    expect(error).toMatchObject({ name: "EngineFailure", ...expected });
    expect(error?.message).not.toContain(KEY);
    isFaulty = false;
    expect((await speak()).error).toBeNull();
    expect(fake.connections.length).toBeLessThanOrEqual(2);
  });

  it("keeps the other sentences of a socket when one fails", async () => {
    let count = 0;
    const { speak } = await open({ fault: () => ((count += 1) === 2 ? "server error" : null), slowness: 4 });
    const heard = await Promise.all([speak(), speak(), speak()]);
    expect(heard.map(({ error }) => error === null)).toEqual([true, false, true]);
  });

  it("speaks with a slow vendor, whose pauses are within the limit", async () => {
    const { speak } = await open({ slowness: 500 });
    expect((await speak()).error).toBeNull();
  });

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
