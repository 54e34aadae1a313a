import type { VoiceKind } from "@parley/schema";
import { describe, expect, test, vi } from "vitest";
import type { PlannedExternalVoice } from "../../plan/voice-plan.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import type { EngineStep } from "../../ports/engine-steps.ts";
import { openFakeTts } from "../../ports/testing/fake-tts.ts";
import { openFakeVoiceProvider } from "../../ports/testing/fake-voice-provider.ts";
import { durationMsOf } from "../../ports/testing/tts-conformance.ts";
import {
  describeVoicesConformance,
  EXTERNAL_VOICE,
  wantedVoice,
} from "../../ports/testing/voices-conformance.ts";
import { ListedEngine } from "../../providers/engine-chain/listed-engine.ts";
import { FIRST_AUDIO_LIMIT_MS } from "../../providers/engine-chain/tts-chain.ts";
import { openManualClock } from "../../runner/testing/manual-clock.ts";
import { createVoiceKeys } from "./voice-keys.ts";
import { createVoices } from "./call-voices.ts";
import { createVoiceHealth, KEPT_VOICES, type VoiceHealth } from "./voice-health.ts";

const KEY = "sk-0123456789abcdef";
const SPOKEN = { text: "Good evening to you all.", language: "de-CH" } as const;

function setUp(
  changes: Partial<Parameters<typeof openFakeVoiceProvider<"provider1">>[0]> = {},
  health: VoiceHealth | null = null,
) {
  const provider = openFakeVoiceProvider({ kind: "provider1", key: KEY, ...changes });
  const asked: string[] = [];
  const keys = createVoiceKeys({
    readAccountKey: async (accountId, kind) => {
      asked.push(`${accountId}:${kind}`);
      return KEY;
    },
    deployment: {},
    nowMs: () => 0,
  });
  return { provider, asked, voices: createVoices({ providers: { provider1: provider }, keys, health }) };
}

describeVoicesConformance("the composition with shared health", {
  open: () => setUp({}, createVoiceHealth(openManualClock())).voices,
  openRefused: () => setUp({ key: "another key" }, createVoiceHealth(openManualClock())).voices,
  key: KEY,
});

describeVoicesConformance("the composition", {
  open: () => setUp().voices,
  openRefused: () => setUp({ key: "another key" }).voices,
  key: KEY,
});

const external = (changes: Partial<PlannedExternalVoice> = {}): PlannedExternalVoice => ({
  ...(EXTERNAL_VOICE as PlannedExternalVoice),
  ...changes,
});

test("the adapter gets settings, key, output and language, when it prepares and when it speaks", async () => {
  const { voices, provider, asked } = setUp();
  const settings = { voiceId: "v", speed: 1.1, model: "eleven_flash" };
  const wanted = wantedVoice(external({ settings }));
  const speaker = voices.speakerFor(wanted);
  speaker.prepare("de");
  await collect(speaker.synthesize(SPOKEN, neverAborted()));
  const use = { voice: settings, key: KEY, output: { sampleRateHz: 16_000, encoding: "pcm" } };
  expect(provider.prepared).toEqual([{ ...use, language: "de" }]);
  expect(provider.spoken).toEqual([{ ...use, ...SPOKEN }]);
  // Both needed the key, which was fetched once.
  expect(asked).toEqual([`${wanted.accountId}:provider1`]);
  expect(voices.originOf(wanted.voice)).toEqual({ name: "Fake provider1", model: "eleven_flash" });
});

test("an adapter's error that has a key or a header comes without it", async () => {
  const failure = () =>
    new EngineFailure(`HTTP 402: no credits for ${KEY}`, { isPermanent: true, type: "402" });
  const speaker = setUp({ failure }).voices.speakerFor(wantedVoice(external()));
  const { error } = await collect(speaker.synthesize(SPOKEN, neverAborted()));
  expect(error).toMatchObject({ message: "HTTP 402: no credits for [key]", isPermanent: true, type: "402" });

  const generic = openFakeVoiceProvider({
    kind: "generic",
    failure: () => new Error("bad token tk-98765432"),
  });
  const keys = createVoiceKeys({ readAccountKey: async () => null, deployment: {}, nowMs: () => 0 });
  const voices = createVoices({ providers: { generic }, keys, health: null });
  const settings = { url: "https://tts.example", headers: { Authorization: "Bearer tk-98765432" } };
  const own = voices.speakerFor(wantedVoice(external({ provider: "generic", settings, key: "none" })));
  const answer = await collect(own.synthesize(SPOKEN, neverAborted()));
  expect(answer.error?.message).toBe("bad token [key]");
  expect(generic.spoken.map(({ key }) => key)).toEqual([""]);
});

test("an abort while the key is fetched ends the wait", async () => {
  const { promise } = Promise.withResolvers<string>();
  const keys = createVoiceKeys({ readAccountKey: () => promise, deployment: {}, nowMs: () => 0 });
  const provider = openFakeVoiceProvider({ kind: "provider1" });
  const voices = createVoices({ providers: { provider1: provider }, keys, health: null });
  const abort = new AbortController();
  const reading = collect(voices.speakerFor(wantedVoice(external())).synthesize(SPOKEN, abort.signal));
  abort.abort();
  expect((await reading).error?.name).toBe("AbortError");
  expect(provider.spoken).toEqual([]);
});

test.each<[VoiceKind, PlannedExternalVoice["key"], RegExp]>([
  ["provider2", "account", /no adapter for voices of provider2/],
  ["provider1", "deployment", /no key for Fake provider1 any more/],
])(
  "a voice of %s with the key of %s that cannot be spoken is a permanent failure",
  async (provider, key, words) => {
    const voice = external({ provider, key });
    const speaker = setUp().voices.speakerFor(wantedVoice(voice));
    expect(() => speaker.prepare(null)).not.toThrow();
    const { error } = await collect(speaker.synthesize(SPOKEN, neverAborted()));
    expect(error).toMatchObject({ isPermanent: true, message: expect.stringMatching(words) as string });
  },
);

describe("where the deployment has a list of voices", () => {
  const TEXT = { text: "Good evening to you all.", language: "en" } as const;

  function listed(changes: Parameters<typeof setUp>[0] = {}) {
    const clock = openManualClock();
    const used: string[] = [];
    const keys = createVoiceKeys({ readAccountKey: async () => KEY, deployment: {}, nowMs: () => 0 });
    const provider = openFakeVoiceProvider({ kind: "provider1", key: KEY, ...changes });
    const said: string[] = [];
    const spare = openFakeTts({
      failure: ({ text }) => {
        said.push(text);
        return null;
      },
    });
    const voices = createVoices({
      providers: { provider1: provider },
      keys,
      health: createVoiceHealth(clock),
      fallback: () => ({
        engines: [new ListedEngine("spare", spare, clock)],
        clock,
        observer: {
          used: (_kind, engine, outcome) => void used.push(`${engine} ${outcome}`),
          failed: () => undefined,
        },
        firstAudioLimitMs: FIRST_AUDIO_LIMIT_MS,
      }),
    });
    const speak = async (accountId: string, steps: EngineStep[] = []) => {
      const speaker = voices.speakerFor({ ...wantedVoice(external()), accountId });
      const user = { stepped: (step: EngineStep) => void steps.push(step) };
      return collect(speaker.synthesize({ ...TEXT, user }, neverAborted()));
    };
    return { provider, said, used, speak };
  }

  test("a sentence that the vendor refuses is said by the next voice, and the call is told", async () => {
    const { speak, used } = listed({ key: "another key" });
    const steps: EngineStep[] = [];
    const { parts, error } = await speak("a", steps);
    expect(error).toBeNull();
    expect(durationMsOf(parts)).toBeGreaterThan(0);
    expect(used).toEqual(["Fake provider1 failed", "spare answered"]);
    expect(steps).toMatchObject([{ from: "Fake provider1", to: "spare" }]);
    expect(JSON.stringify(steps)).not.toContain(KEY);
  });

  test("a voice that refused one account is not asked again at once for it, and is for others", async () => {
    const { speak, provider } = listed({ key: "another key" });
    await speak("a");
    await speak("a");
    expect(provider.spoken).toHaveLength(1);
    await speak("b");
    expect(provider.spoken).toHaveLength(2);
  });

  test("a voice that breaks within a sentence is out after three calls, and another one says the rest once", async () => {
    const failure = () => new EngineFailure("HTTP 503", { type: "503" });
    const { speak, provider, said } = listed({ tts: { failure } });
    for (let count = 0; count < 4; count += 1) expect((await speak("a")).error).toBeNull();
    expect(provider.spoken).toHaveLength(3);
    expect(said).toEqual([...Array<string>(3).fill("evening to you all."), TEXT.text]);
  });

  test("a voice that works speaks by itself", async () => {
    const { speak, used } = listed();
    const steps: EngineStep[] = [];
    expect((await speak("a", steps)).error).toBeNull();
    expect([used, steps]).toEqual([["Fake provider1 answered"], []]);
  });
});

describe("the health of a voice", () => {
  function shared() {
    const clock = openManualClock();
    let error: Error | null = new EngineFailure("HTTP 503", { type: "503" });
    const { voices, provider } = setUp({ failure: () => error }, createVoiceHealth(clock));
    const say = async (changes: Partial<PlannedExternalVoice> = {}, accountId = "one") => {
      const speaker = voices.speakerFor({ ...wantedVoice(external(changes)), accountId });
      return (await collect(speaker.synthesize(SPOKEN, neverAborted()))).error;
    };
    const works = () => void (error = null);
    const refuses = () => void (error = new EngineFailure("HTTP 401", { isPermanent: true, type: "401" }));
    return { clock, voices, provider, say, works, refuses };
  }

  test("is shared by calls: after three failures the next call takes its default voice at once", async () => {
    const { say, provider, clock, works } = shared();
    for (let count = 0; count < 3; count += 1) expect(await say()).toMatchObject({ isPermanent: false });
    expect(await say()).toMatchObject({
      isPermanent: true,
      type: "503",
      message: "Fake provider1 has failed in the last requests: HTTP 503",
    });
    expect(provider.spoken).toHaveLength(3);
    works();
    await clock.advance(10_000);
    expect([await say(), await say()]).toEqual([null, null]);
    expect(provider.spoken).toHaveLength(5);
  });

  test("is that of one voice of one account", async () => {
    const { say, refuses, provider, works } = shared();
    refuses();
    await say();
    works();
    expect(await say()).toMatchObject({ isPermanent: true });
    expect(await say({ settings: { voiceId: "another" } })).toBeNull();
    expect(await say({}, "two")).toBeNull();
    expect(provider.spoken).toHaveLength(3);
  });

  test("counts a vendor that was silent until the call gave it up, and no interruption", async () => {
    const clock = openManualClock();
    const health = createVoiceHealth(clock);
    const { voices } = setUp({ tts: { firstAudioDelayMs: 3_600_000 } }, health);
    const cutAfter = async (ms: number) => {
      const abort = new AbortController();
      const speaker = voices.speakerFor(wantedVoice(external()));
      const reading = collect(speaker.synthesize(SPOKEN, abort.signal));
      await clock.advance(ms);
      abort.abort();
      return (await reading).error?.name;
    };
    for (let count = 0; count < 4; count += 1) expect(await cutAfter(500)).toBe("AbortError");
    for (let count = 0; count < 3; count += 1) expect(await cutAfter(4_000)).toBe("AbortError");
    expect(await cutAfter(0)).toBe("EngineFailure");
  });

  test("begins anew with another key of the account", async () => {
    let stored = "an old key";
    const keys = createVoiceKeys({ readAccountKey: async () => stored, deployment: {}, nowMs: () => 0 });
    const provider = openFakeVoiceProvider({ kind: "provider1", key: KEY });
    const health = createVoiceHealth(openManualClock());
    const voices = createVoices({ providers: { provider1: provider }, keys, health });
    const say = async () => {
      const speaker = voices.speakerFor(wantedVoice(external()));
      return (await collect(speaker.synthesize(SPOKEN, neverAborted()))).error;
    };
    await say();
    expect((await say())?.message).toMatch("has failed in the last requests");
    stored = KEY;
    voices.speakerFor(wantedVoice(external())).prepare(null);
    await vi.waitFor(() => expect(provider.prepared).toHaveLength(1), 60_000);
    expect(await say()).toBeNull();
  });

  test("is kept for a bounded number of voices: the one that was used longest ago is forgotten", () => {
    const health = createVoiceHealth(openManualClock());
    const begin = (voiceId: string) => health.of("one", external({ settings: { voiceId } })).begin("Fake");
    const refused = new EngineFailure("no such voice", { isPermanent: true });
    begin("first").failed(refused);
    begin("second").failed(refused);
    for (let count = 0; count < KEPT_VOICES - 2; count += 1) begin(String(count)).succeeded();
    expect(() => begin("first")).toThrow("has failed");
    begin("one more").succeeded();
    expect(() => begin("first")).toThrow("has failed");
    expect(() => begin("second").dropped()).not.toThrow();
  });
});
