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
  type FakeCartesia,
  type FakeCartesiaOptions,
  KEY,
  openFakeCartesia,
} from "./testing/fake-cartesia.ts";
import { type CartesiaOptions, openCartesia } from "./tts-cartesia.ts";

const VOICE: ProviderVoice<"provider2"> = {
  voiceId: "voice-1",
  generationConfig: { speed: 1.1, emotion: "calm" },
};
const PCM = { sampleRateHz: 24_000, encoding: "pcm" } as const;
const TEXT = "We open at nine, and close late.";

const opened: { close(): Promise<void> }[] = [];
const fakes: FakeCartesia[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
  const violations = fakes.splice(0).flatMap((fake) => fake.violations);
  if (violations.length > 0) throw new Error(`the vendor does not allow: ${violations.join("; ")}`);
});

async function open(fakeOptions: FakeCartesiaOptions = {}, options: Partial<CartesiaOptions> = {}) {
  const fake = await openFakeCartesia(fakeOptions);
  const log: string[] = [];
  const provider = openCartesia({
    baseUrl: fake.baseUrl,
    log: (line) => log.push(line),
    ...options,
    // A limit passes only where a test says so: the machine may be slow.
    pool: { timers: new ManualTimers(), ...options.pool },
  });
  opened.push(fake, provider);
  fakes.push(fake);
  const use = { voice: VOICE, key: KEY, output: PCM, language: "en" };
  const speak = (fields: Partial<ProviderSpeech<"provider2">> = {}, signal = neverAborted()) =>
    collect(provider.synthesize({ ...use, text: TEXT, ...fields }, signal));
  return { fake, provider, log, use, speak };
}

async function engine(fakeOptions: FakeCartesiaOptions = {}) {
  const { provider, use, fake } = await open(fakeOptions);
  return { engine: providerEngine(provider, use), reached: fake.reached };
}

function wordsOf(text: string, parts: readonly TtsPart[]): [string, number][] {
  return parts.flatMap((part): [string, number][] =>
    part.type === "word" ? [[/\S+/.exec(text.slice(part.textOffset))?.[0] ?? "", Math.round(part.atMs)]] : [],
  );
}

const faultOnly = (fault: Fault): FakeCartesiaOptions => ({ fault: () => fault });

describeTtsConformance("Cartesia", {
  open: async () => (await engine()).engine,
  language: "en",
  openHanging: () => engine(faultOnly("hang")),
  openFailing: async () => (await engine(faultOnly("server error"))).engine,
});

describeTtsConformance("Cartesia, split and with late times,", {
  open: async () => (await engine({ splits: true, times: "after", slowness: 3 })).engine,
  language: "en",
  openHanging: () => engine({ ...faultOnly("hang in the middle"), splits: true }),
  openFailing: async () => (await engine(faultOnly("drop in the middle"))).engine,
});

describe("Cartesia", () => {
  it.each(["before", "after"] as const)(
    "gives the times of words that come %s their audio",
    async (times) => {
      const { speak } = await open({ times });
      const { parts, error } = await speak();
      expect(error).toBeNull();
      // A word takes 40 ms and 10 ms for each character.
      expect(wordsOf(TEXT, parts)).toEqual([
        ["We", 0],
        ["open", 60],
        ["at", 140],
        ["nine,", 200],
        ["and", 290],
        ["close", 360],
        ["late.", 450],
      ]);
      expect(durationMsOf(parts)).toBe(540);
      // No part points into audio that has not come.
      let comeMs = 0;
      const early = parts.filter((part) => {
        if (part.type === "audio") comeMs += durationMsOf([part]);
        return part.type === "word" && part.atMs > comeMs;
      });
      expect(early).toEqual([]);
    },
  );

  it("speaks without times, and in mu-law", async () => {
    const { speak } = await open({ times: "none" });
    const { parts, error } = await speak({ output: { sampleRateHz: 8_000, encoding: "mulaw" } });
    expect(error).toBeNull();
    expect(parts.every((part) => part.type === "audio" && part.sampleRateHz === 8_000)).toBe(true);
    expect(samplesOf(parts).some((sample) => Math.abs(sample) > 7_000)).toBe(true);
  });

  it("serves all voices of a key on one socket, each sentence in a context of its own", async () => {
    const { speak, fake } = await open({ slowness: 5 });
    const voices = [VOICE, { voiceId: "voice-2", speed: 0.5 }, { voiceId: "voice-3", model: "sonic-2" }];
    const heard = await Promise.all([...voices, ...voices].map((voice) => speak({ voice })));
    expect(heard.map(({ error }) => error)).toEqual(Array.from({ length: 6 }, () => null));
    expect(fake.connections).toHaveLength(1);
    expect(new Set(fake.generations.map(({ context_id: id }) => id)).size).toBe(6);
  });

  it("uses the older version where the model has the legacy controls", async () => {
    const { speak, fake } = await open();
    const voice = { voiceId: "v", model: "sonic-2", speed: -0.5, emotions: ["positivity:high"] };
    expect((await speak({ voice })).error).toBeNull();
    expect(fake.requests[0]?.headers["cartesia-version"]).toBe("2024-11-13");
    expect(fake.generations[0]?.voice.__experimental_controls).toEqual({
      speed: -0.5,
      emotion: ["positivity:high"],
    });
    expect((await speak()).error).toBeNull();
    expect(fake.requests[1]?.headers["cartesia-version"]).toBe("2025-11-04");
  });

  it("cancels an interrupted sentence and keeps the socket", async () => {
    const { provider, use, fake, speak } = await open({ slowness: 10 });
    const other = speak({ text: TEXT.repeat(4) });
    for (let round = 0; round < 10; round += 1) {
      const abort = new AbortController();
      const speech = { ...use, text: TEXT.repeat(3) };
      const { error } = await collect(provider.synthesize(speech, abort.signal), () => {
        abort.abort();
      });
      expect(error?.name).toBe("AbortError");
    }
    expect(await other).toMatchObject({ error: null });
    await until(() => fake.cancelled.length === 10);
    expect(fake.connections).toHaveLength(1);
    await until(() => fake.liveContexts === 0);
  });

  it("tells a sentence that is more than the plan allows, and speaks the others", async () => {
    const { speak } = await open({ concurrency: 2, slowness: 5 });
    const heard = await Promise.all([speak(), speak(), speak()]);
    const errors = heard.flatMap(({ error }) => (error === null ? [] : [error]));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ isPermanent: false, type: "429" });
    expect(errors[0]?.message).toBe(
      "Cartesia answered 429: You have exceeded your plan's concurrency limit.",
    );
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
    provider.prepare({ ...use, key: "wrong-key" });
    await until(() => log.length > 0);
    expect(log).toEqual(["Cartesia answered HTTP 401: Unauthorized: Invalid API key [key]"]);
  });

  it("refuses a voice without a name, an unknown one, a missing key, and a text that is too long", async () => {
    const { speak } = await open({ voices: ["voice-1"] });
    expect((await speak({ voice: {} })).error).toMatchObject({ isPermanent: true, type: "unknown_voice" });
    expect((await speak({ voice: { voiceId: "no such voice" } })).error).toMatchObject({
      isPermanent: true,
      type: "404",
      message: "Cartesia answered 404: Voice not found",
    });
    expect((await speak({ key: "" })).error).toMatchObject({ isPermanent: true, type: "no_key" });
    expect((await speak({ text: "a".repeat(3_001) })).error).toMatchObject({ type: "too_long" });
  });
});

describeSpeechFaults({
  vendor: "Cartesia",
  key: KEY,
  open: async (vendor, pool = {}) => {
    const { fake, provider, use } = await open(vendor, { pool });
    return { fake, synthesize: (signal) => provider.synthesize({ ...use, text: TEXT }, signal) };
  },
  upgrades: [
    ["a refused key", { status: 401, body: `Unauthorized: ${KEY}` }, { isPermanent: true, type: "401" }],
    ["429", { status: 429, body: "Too Many Requests: limit" }, { isPermanent: false, type: "429" }],
    ["503", { status: 503, body: "<html>no</html>" }, { isPermanent: false, type: "503" }],
    ["a hanging handshake", "hang", { isPermanent: false, type: "timeout" }],
  ],
  types: { rateLimit: "429", serverError: "500" },
});
