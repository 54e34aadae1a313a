import { status } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import { decodeMulaw, encodeMulaw } from "../../media/g711.ts";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { providerEngine } from "../../ports/testing/provider-engine.ts";
import { describeTtsConformance, durationMsOf, samplesOf } from "../../ports/testing/tts-conformance.ts";
import type { Fault } from "./testing/fake-google.ts";
import { closeOpened, openGoogle as open, type OpenedGoogle } from "./testing/open-google.ts";
import { samplesFor } from "./testing/spoken-audio.ts";

afterEach(closeOpened);

function engineOf({ provider, speech }: OpenedGoogle) {
  const { voice, key, output } = speech();
  return providerEngine(provider, { voice, key, output });
}

const always = (fault: Fault) => ({ fault: () => fault });

describeTtsConformance("Google", {
  language: "en",
  open: async () => engineOf(await open()),
  openHanging: async () => {
    const each = await open(always({ kind: "hang", when: "middle" }));
    return { engine: engineOf(each), reached: each.fake.hanging };
  },
  openFailing: async () => engineOf(await open(always({ status: status.INTERNAL }))),
});

describe("a voice of Google", () => {
  it("sends every field and plays the samples that come", async () => {
    const { fake, provider, speech } = await open();
    const asked = speech({ voice: { voiceId: "de-DE-Chirp3-HD-Kore", speakingRate: 1.25 }, language: "fr" });
    const { parts, error } = await collect(provider.synthesize(asked, neverAborted()));
    expect(error).toBeNull();
    expect(fake.heard).toEqual([
      {
        config: {
          voice: { language_code: "de-DE", name: "de-DE-Chirp3-HD-Kore" },
          streaming_audio_config: { audio_encoding: "PCM", sample_rate_hertz: 24_000, speaking_rate: 1.25 },
        },
        text: "Good evening, and welcome.",
      },
    ]);
    expect(samplesOf(parts)).toEqual(samplesFor(fake.heard[0]!));
    for (const part of parts) expect(durationMsOf([part])).toBeLessThanOrEqual(200);
  });

  it.each([
    [8_000, 8_000],
    [16_000, 16_000],
    [22_050, 24_000],
    [48_000, 24_000],
  ])("asks for PCM for %i Hz at %i Hz", async (sampleRateHz, asked) => {
    const { fake, provider, speech } = await open();
    const { parts } = await collect(
      provider.synthesize(speech({ output: { sampleRateHz, encoding: "pcm" } }), neverAborted()),
    );
    expect(fake.heard[0]?.config?.streaming_audio_config.sample_rate_hertz).toBe(asked);
    expect(parts[0]).toMatchObject({ sampleRateHz: asked });
  });

  it("asks for mu-law at 8 kHz where that is played", async () => {
    const { fake, provider, speech } = await open();
    const output = { sampleRateHz: 8_000, encoding: "mulaw" } as const;
    const { parts, error } = await collect(provider.synthesize(speech({ output }), neverAborted()));
    expect(error).toBeNull();
    expect(fake.heard[0]?.config?.streaming_audio_config).toEqual({
      audio_encoding: "MULAW",
      sample_rate_hertz: 8_000,
    });
    expect(samplesOf(parts)).toEqual(decodeMulaw(encodeMulaw(samplesFor(fake.heard[0]!))));
  });

  it("leaves out the header of a WAV file", async () => {
    const { fake, provider, speech } = await open(always({ kind: "header" }));
    const { parts } = await collect(provider.synthesize(speech(), neverAborted()));
    expect(samplesOf(parts)).toEqual(samplesFor(fake.heard[0]!));
  });

  it.each([
    [{}, null, "en-US"],
    [{}, "de-CH", "de-CH"],
    [{}, "zh-Hant-TW", "zh-TW"],
    [{}, "not a tag", "en-US"],
  ])("without a voice id asks for the language of the call (%j, %s)", async (voice, language, code) => {
    const { fake, provider, speech } = await open();
    const { error } = await collect(provider.synthesize(speech({ voice, language }), neverAborted()));
    expect(error).toBeNull();
    expect(fake.heard[0]?.whole?.voice).toEqual({ language_code: code });
  });

  it("gets the whole sentence of a voice that does not stream, without the header of its file", async () => {
    const { fake, provider, speech } = await open();
    const voice = { voiceId: "en-US-Neural2-F", speakingRate: 0.5 };
    const { parts, error } = await collect(provider.synthesize(speech({ voice }), neverAborted()));
    expect(error).toBeNull();
    expect(fake.heard).toEqual([
      {
        whole: {
          input: { text: "Good evening, and welcome." },
          voice: { language_code: "en-US", name: "en-US-Neural2-F" },
          audio_config: { audio_encoding: "LINEAR16", sample_rate_hertz: 24_000, speaking_rate: 0.5 },
        },
        text: "Good evening, and welcome.",
      },
    ]);
    expect(samplesOf(parts)).toEqual(samplesFor(fake.heard[0]!));
    for (const part of parts) expect(durationMsOf([part])).toBeLessThanOrEqual(200);
  });

  it("gets mu-law of a voice that does not stream", async () => {
    const { fake, provider, speech } = await open();
    const output = { sampleRateHz: 8_000, encoding: "mulaw" } as const;
    const asked = speech({ output, voice: { voiceId: "de-DE-Wavenet-B" } });
    const { parts, error } = await collect(provider.synthesize(asked, neverAborted()));
    expect(error).toBeNull();
    expect(samplesOf(parts)).toEqual(decodeMulaw(encodeMulaw(samplesFor(fake.heard[0]!))));
  });

  it("tells in Google's words that a voice does not exist", async () => {
    const { provider, speech } = await open(always({}));
    const asked = speech({ voice: { voiceId: "en-US-Standard-Z" } });
    const { error } = await collect(provider.synthesize(asked, neverAborted()));
    expect(error).toMatchObject({
      isPermanent: true,
      message: "Google answered INVALID_ARGUMENT: Voice 'en-US-Standard-Z' does not exist. Is it misspelled?",
    });
  });

  it("asks for one token and opens one connection for many sentences of a key", async () => {
    const { fake, provider, speech } = await open();
    const { text, ...use } = speech();
    expect(text).not.toBe("");
    provider.prepare(use);
    await Promise.all(
      Array.from({ length: 20 }, () => collect(provider.synthesize(speech(), neverAborted()))),
    );
    await collect(provider.synthesize(speech(), neverAborted()));
    expect(fake.heard).toHaveLength(21);
    expect(fake.tokenRequests).toBe(1);
    expect(fake.peers.size).toBe(1);
  });

  it("asks for a new token shortly before the old one ends", async () => {
    const { fake, provider, speech } = await open({ tokenLifeS: 299 });
    await collect(provider.synthesize(speech(), neverAborted()));
    await collect(provider.synthesize(speech(), neverAborted()));
    expect(fake.tokenRequests).toBe(2);
  });

  it("asks for a new token when Google no longer takes a kept one", async () => {
    const { fake, provider, speech } = await open();
    await collect(provider.synthesize(speech(), neverAborted()));
    fake.revoke();
    const { error } = await collect(provider.synthesize(speech(), neverAborted()));
    expect(error).toBeNull();
    expect(fake.tokenRequests).toBe(2);
  });

  it("repeats a call that was ABORTED before its audio, once", async () => {
    const first = await open({ fault: (call) => (call === 0 ? { status: status.ABORTED } : null) });
    const { parts, error } = await collect(first.provider.synthesize(first.speech(), neverAborted()));
    expect(error).toBeNull();
    expect(samplesOf(parts)).toEqual(samplesFor(first.fake.heard[0]!));
    for (const when of ["first", "middle"] as const) {
      const { fake, provider, speech } = await open(always({ status: status.ABORTED, when }));
      const refused = await collect(provider.synthesize(speech(), neverAborted()));
      expect(refused.error).toMatchObject({ isPermanent: false, type: "ABORTED" });
      expect(fake.calls).toBe(when === "first" ? 2 : 1);
    }
  });

  it("cancels the call when it is aborted and when its reader stops", async () => {
    const first = await open(always({ kind: "hang", when: "middle" }));
    const abort = new AbortController();
    await collect(first.provider.synthesize(first.speech(), abort.signal), () => abort.abort());
    await first.fake.cancelled;
    const second = await open(always({ kind: "hang", when: "middle" }));
    for await (const part of second.provider.synthesize(second.speech(), neverAborted())) {
      expect(part.type).toBe("audio");
      break;
    }
    await second.fake.cancelled;
  });

  it("opens what the first sentence waits for, and reports that it cannot", async () => {
    const { provider, speech, logged } = await open();
    provider.prepare(speech({ key: "{}" }));
    await expect.poll(() => logged, { timeout: 30_000 }).toHaveLength(1);
    expect(logged[0]).toContain("not the document of a service account");
  });
});

describe("faults of Google", () => {
  it.each([
    [
      "a refused key",
      { status: status.UNAUTHENTICATED, details: "no" },
      "Google answered UNAUTHENTICATED: no",
      true,
    ],
    [
      "a key without the right",
      { status: status.PERMISSION_DENIED, details: "API has not been used" },
      "Google answered PERMISSION_DENIED: API has not been used",
      true,
    ],
    [
      "too many requests",
      { status: status.RESOURCE_EXHAUSTED, details: "Quota" },
      "RESOURCE_EXHAUSTED: Quota",
      false,
    ],
    ["a broken server", { status: status.INTERNAL, details: "oops" }, "INTERNAL: oops", false],
    [
      "an unavailable server",
      { status: status.UNAVAILABLE, details: "gone" },
      "cannot be reached: gone",
      false,
    ],
    ["no audio", { kind: "silent" }, "Google answered no audio", false],
    ["garbage", { kind: "garbage", when: "middle" }, "Google answered INTERNAL", false],
    ["an error in the middle", { status: status.INTERNAL, when: "middle" }, "INTERNAL", false],
  ] as const satisfies readonly (readonly [string, Fault, string, boolean])[])(
    "throws on %s",
    async (_name, fault, message, isPermanent) => {
      const { provider, speech } = await open(always(fault));
      const { parts, error } = await collect(provider.synthesize(speech(), neverAborted()));
      expect(error?.message).toContain(message);
      expect(error).toMatchObject({ name: "EngineFailure", isPermanent });
      expect(durationMsOf(parts) > 0).toBe("when" in fault);
      expect(error?.message).not.toContain("ya29.");
    },
  );

  it.each(["first", "middle"] as const)("throws when Google says nothing more (%s)", async (when) => {
    const { provider, speech } = await open(always({ kind: "hang", when }), { stallTimeoutMs: 1_000 });
    const { error } = await collect(provider.synthesize(speech(), neverAborted()));
    expect(error).toMatchObject({ message: "Google stopped answering", type: "timeout", isPermanent: false });
  });

  it("throws when the connection is lost in the middle", async () => {
    const { fake, provider, speech } = await open(always({ kind: "hang", when: "middle" }));
    const { parts, error } = await collect(provider.synthesize(speech(), neverAborted()), (_part, index) => {
      if (index === 0) fake.drop();
    });
    expect(durationMsOf(parts)).toBeGreaterThan(0);
    expect(error).toMatchObject({ name: "EngineFailure", isPermanent: false });
    expect(error?.message).not.toContain("stopped answering");
  });

  it("plays a slow answer to its end", async () => {
    const { fake, provider, speech } = await open(always({ kind: "slow" }));
    const { parts, error } = await collect(provider.synthesize(speech(), neverAborted()));
    expect(error).toBeNull();
    expect(samplesOf(parts)).toEqual(samplesFor(fake.heard[0]!));
  });

  it("throws what Google says of a voice and of a rate", async () => {
    const { provider, speech } = await open();
    const wrong = [{ voiceId: "en-US-Nobody" }, { voiceId: "en-US-Chirp3-HD-Charon", speakingRate: 9 }];
    for (const voice of wrong) {
      const { error } = await collect(provider.synthesize(speech({ voice }), neverAborted()));
      expect(error).toMatchObject({ isPermanent: true, type: "INVALID_ARGUMENT" });
    }
  });

  it("throws when nobody listens", async () => {
    const { fake, provider, speech } = await open();
    await collect(provider.synthesize(speech(), neverAborted()));
    await fake.close();
    const { error } = await collect(provider.synthesize(speech(), neverAborted()));
    expect(error).toMatchObject({ isPermanent: false, type: "UNAVAILABLE" });
  });

  it("refuses a text that Google would refuse", async () => {
    const { fake, provider, speech } = await open();
    const { error } = await collect(provider.synthesize(speech({ text: "ß".repeat(2_501) }), neverAborted()));
    expect(error?.message).toContain("at most 5000 bytes");
    expect(fake.calls).toBe(0);
  });
});
