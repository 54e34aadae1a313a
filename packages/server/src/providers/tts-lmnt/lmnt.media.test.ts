import { describe, expect, it } from "vitest";
import { neverAborted } from "../../ports/testing/collect.ts";
import { samplesOf } from "../../ports/testing/tts-conformance.ts";
import { until } from "../../ports/testing/until.ts";
import { fakeSpeech } from "../sockets/testing/fake-voice.ts";
import { describeProviderFaults } from "../sockets/testing/provider-faults.ts";
import { voiceStand } from "../sockets/testing/voice-stand.ts";
import { openLmnt } from "./lmnt.ts";
import { LMNT_KEY, openFakeLmnt } from "./testing/fake-lmnt.ts";

const isOf = (type: string) => (message: unknown) =>
  typeof message === "object" && message !== null && Reflect.get(message, "type") === type;

const USE = {
  voice: { voiceId: "leah" },
  key: LMNT_KEY,
  output: { sampleRateHz: 16_000, encoding: "pcm" },
} as const;

describeProviderFaults<"provider3">("LMNT", {
  openVendor: () => openFakeLmnt(),
  open: openLmnt,
  use: USE,
  wrongKeyMessage: "LMNT answered authentication_error: The key [key] is not valid",
  isText: isOf("flush"),
  garbage: [
    ["a text that is not JSON", "}{"],
    ["a list", "[]"],
    ["a message of an unknown form", '{"type":"flush_complete","nonce":"none"}'],
    ["nothing but an unknown kind of message", '{"type":"weather"}'],
  ],
});

describe("LMNT", () => {
  const { open, speak } = voiceStand({
    openVendor: openFakeLmnt,
    openProvider: openLmnt,
    use: USE,
  });

  it("sends each setting that is set, and no other", async () => {
    const { vendor, provider } = await open();
    await speak(provider);
    const voice = { voiceId: "morgan", model: "aurora", speed: 1.5, conversational: true };
    await speak(provider, { voice, language: "de-AT" });
    const starts = vendor.received
      .map(({ message }) => message)
      .filter((message) => !isOf("text")(message) && !isOf("flush")(message));
    const all = { "X-API-Key": LMNT_KEY, "lmnt-version": "1.1", format: "pcm_s16le", sample_rate: 16_000 };
    expect(starts).toEqual([
      { ...all, voice: "leah", language: "auto", return_timestamps: true },
      {
        ...all,
        voice: "morgan",
        language: "de",
        return_timestamps: true,
        model: "aurora",
        speed: 1.5,
        conversational: true,
      },
    ]);
  });

  it.each([
    [8_000, 8_000],
    [12_000, 16_000],
    [24_000, 24_000],
    [48_000, 24_000],
  ])("asks for the nearest rate: %i Hz as %i Hz", async (sampleRateHz, asked) => {
    const { provider } = await open();
    const { parts, error } = await speak(provider, { output: { sampleRateHz, encoding: "pcm" } });
    expect(error).toBeNull();
    expect(samplesOf(parts)).toEqual(fakeSpeech("We open at nine.", asked));
  });

  it("asks for samples of 8 kHz where G.711 is played", async () => {
    const { provider } = await open();
    const { parts } = await speak(provider, { output: { sampleRateHz: 8_000, encoding: "mulaw" } });
    expect(parts[0]).toMatchObject({ type: "audio", sampleRateHz: 8_000 });
    expect(samplesOf(parts)).toEqual(fakeSpeech("We open at nine.", 8_000));
  });

  it.each(["flush", "socket"] as const)(
    "gives the times of words, counted from the %s",
    async (timesFrom) => {
      const { provider } = await open({ timesFrom });
      for (let turn = 0; turn < 2; turn += 1) {
        const { parts } = await speak(provider);
        const words = parts.flatMap((part) => (part.type === "word" ? [[part.textOffset, part.atMs]] : []));
        expect(words).toEqual(
          [
            [0, 0],
            [3, 15],
            [8, 40],
            [11, 55],
          ].map(([offset, atMs]) => [offset, expect.closeTo(atMs ?? 0, 0)]),
        );
      }
    },
  );

  it("resets an interrupted text, and uses the socket again without what was left", async () => {
    const { vendor, provider } = await open();
    for await (const part of provider.synthesize(
      { ...USE, language: null, text: "A long text that nobody hears to its end." },
      neverAborted(),
    )) {
      expect(part.type).toBe("audio");
      break;
    }
    await vendor.got(isOf("reset"));
    // Another text goes to another socket until the reset is complete.
    const { parts, error } = await speak(provider);
    expect(error).toBeNull();
    expect(samplesOf(parts)).toEqual(fakeSpeech("We open at nine.", 16_000));
    const again = await Promise.all([speak(provider), speak(provider)]);
    for (const one of again) expect(samplesOf(one.parts)).toEqual(fakeSpeech("We open at nine.", 16_000));
    expect(vendor.upgrades.length).toBeLessThanOrEqual(2);
  });

  it("closes a socket whose reset is not answered", async () => {
    const { vendor, provider } = await open({ neverResets: true }, { settleLimitMs: 100 });
    for await (const part of provider.synthesize(
      { ...USE, language: null, text: "A long text." },
      neverAborted(),
    )) {
      expect(part.type).toBe("audio");
      break;
    }
    await until(() => vendor.upgrades.length === 1 && vendor.openSockets === 0);
    expect((await speak(provider)).error).toBeNull();
  });

  it("speaks as many texts at a time as there are sockets, one on each", async () => {
    const { vendor, provider } = await open();
    await Promise.all(Array.from({ length: 10 }, () => speak(provider)));
    expect(vendor.mostSockets).toBe(10);
  });

  it.each([
    ["a voice that LMNT has not", { voice: { voiceId: "nobody" } }, true, "not_found_error"],
    [
      "a setting that LMNT refuses",
      { voice: { voiceId: "leah", model: "blizzard", conversational: true } },
      true,
      "invalid_request_error",
    ],
    ["a voice without an id", { voice: {} }, true, "no_voice"],
    ["a text that is too long", { text: "a".repeat(5_001) }, false, "too_long"],
  ])("refuses %s", async (_name, fields, isPermanent, type) => {
    const { provider } = await open();
    const { parts, error } = await speak(provider, fields);
    expect(parts).toEqual([]);
    expect(error).toMatchObject({ isPermanent, type });
  });

  it("does not take a limit of connections for good", async () => {
    const { provider } = await open({ maxSockets: 1 });
    const results = await Promise.all([speak(provider), speak(provider)]);
    const errors = results.flatMap(({ error }) => (error === null ? [] : [error]));
    expect(errors).toMatchObject([{ isPermanent: false, type: "rate_limit_error" }]);
  });
});
