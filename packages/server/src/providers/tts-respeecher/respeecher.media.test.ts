import { describe, expect, it } from "vitest";
import { decodeMulaw, encodeMulaw } from "../../media/g711.ts";
import { neverAborted } from "../../ports/testing/collect.ts";
import { samplesOf } from "../../ports/testing/tts-conformance.ts";
import { fakeSpeech } from "../sockets/testing/fake-voice.ts";
import { describeProviderFaults } from "../sockets/testing/provider-faults.ts";
import { voiceStand } from "../sockets/testing/voice-stand.ts";
import { openRespeecher } from "./respeecher.ts";
import { openFakeRespeecher, RESPEECHER_KEY } from "./testing/fake-respeecher.ts";

const isOf = (field: string) => (message: unknown) =>
  typeof message === "object" && message !== null && field in message;

const USE = {
  voice: { voiceId: "samantha" },
  key: RESPEECHER_KEY,
  output: { sampleRateHz: 16_000, encoding: "pcm" },
} as const;

describeProviderFaults<"provider6">("Respeecher", {
  openVendor: () => openFakeRespeecher(),
  open: openRespeecher,
  use: USE,
  wrongKeyMessage: "Respeecher answered HTTP 401: Wrong key [key]",
  isText: isOf("transcript"),
  garbage: [
    ["a text that is not JSON", "}{"],
    ["bytes", Uint8Array.of(1, 2, 3, 4)],
    ["an answer without its audio", '{"type":"chunk","context_id":"x"}'],
    ["an error of the connection", '{"type":"error","error":"internal","status_code":500}'],
  ],
});

describe("Respeecher", () => {
  const { open, speak } = voiceStand({
    openVendor: openFakeRespeecher,
    openProvider: openRespeecher,
    use: USE,
  });

  it("sends each setting that is set, and no other", async () => {
    const { vendor, provider } = await open();
    await speak(provider);
    await speak(provider, {
      voice: {
        voiceId: "olesia",
        seed: 7,
        temperature: 0.8,
        topK: -1,
        topP: 0.95,
        minP: 0.05,
        presencePenalty: 0,
        repetitionPenalty: 1.1,
        frequencyPenalty: 0.5,
      },
    });
    const [plain, full] = vendor.received.map(({ message }) => message);
    expect(plain).toEqual({
      context_id: expect.any(String),
      transcript: "We open at nine.",
      continue: false,
      voice: { id: "samantha" },
      output_format: { encoding: "pcm_s16le", sample_rate: 16_000 },
    });
    expect(full).toMatchObject({
      voice: {
        id: "olesia",
        sampling_params: {
          seed: 7,
          temperature: 0.8,
          top_k: -1,
          top_p: 0.95,
          min_p: 0.05,
          presence_penalty: 0,
          repetition_penalty: 1.1,
          frequency_penalty: 0.5,
        },
      },
    });
  });

  it("reads G.711 where it is played", async () => {
    const { provider } = await open();
    const { parts, error } = await speak(provider, { output: { sampleRateHz: 8_000, encoding: "mulaw" } });
    expect(error).toBeNull();
    expect(samplesOf(parts)).toEqual(decodeMulaw(encodeMulaw(fakeSpeech("We open at nine.", 8_000))));
  });

  it.each([
    ["no language", {}, "en-rt"],
    ["Ukrainian", { language: "uk-UA" }, "ua-rt"],
    ["another language", { language: "de" }, "en-rt"],
    ["a model", { voice: { voiceId: "samantha", model: "ua-rt" } }, "ua-rt"],
    [
      "a model with its path",
      { voice: { voiceId: "samantha", model: "public/tts/ua-rt" }, language: "en" },
      "ua-rt",
    ],
  ])("goes to the model for %s", async (_name, fields, model) => {
    const { vendor, provider } = await open();
    expect((await speak(provider, fields)).error).toBeNull();
    expect(vendor.upgrades.map(({ pathname }) => pathname)).toEqual([
      `/v1/public/tts/${model}/tts/websocket`,
    ]);
  });

  it("uses a base address with a path as it is", async () => {
    const { vendor, provider } = await open({ paths: ["/ours/fr/tts/websocket"] }, {}, "/ours/fr");
    expect((await speak(provider, { language: "uk" })).error).toBeNull();
    expect(vendor.upgrades.map(({ pathname }) => pathname)).toEqual(["/ours/fr/tts/websocket"]);
  });

  it("plays nothing that is not base64", async () => {
    const { provider } = await open({ spoilsAudio: true });
    const { parts, error } = await speak(provider);
    expect(parts).toEqual([]);
    expect(error).toMatchObject({
      isPermanent: false,
      type: "garbage",
      message: "Respeecher sent audio that is no base64",
    });
  });

  it("has at most five generations at a time, and the others wait", async () => {
    const { vendor, provider } = await open();
    const results = await Promise.all(Array.from({ length: 12 }, () => speak(provider)));
    for (const { parts } of results) expect(samplesOf(parts)).toEqual(fakeSpeech("We open at nine.", 16_000));
    expect(vendor.mostGenerations).toBe(5);
    expect(vendor.mostSockets).toBe(1);
  });

  it("cancels interrupted texts, whose places are free afterwards", async () => {
    const { vendor, provider } = await open({ chunkBytes: 101 });
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        const text = "A long text that nobody hears to its end, not even the fifth time.";
        for await (const part of provider.synthesize({ ...USE, language: null, text }, neverAborted())) {
          expect(part.type).toBe("audio");
          break;
        }
      }),
    );
    await vendor.got(isOf("cancel"));
    const results = await Promise.all(Array.from({ length: 5 }, () => speak(provider)));
    for (const { parts } of results) expect(samplesOf(parts)).toEqual(fakeSpeech("We open at nine.", 16_000));
  });

  it.each([
    ["a voice that Respeecher has not", { voice: { voiceId: "nobody" } }, true, "404"],
    ["a voice without an id", { voice: {} }, true, "no_voice"],
    ["a model that is no name", { voice: { voiceId: "samantha", model: "../admin" } }, true, "no_model"],
    ["a model that Respeecher has not", { voice: { voiceId: "samantha", model: "xx-rt" } }, true, "404"],
    ["a text that is too long", { text: "a".repeat(5_001) }, false, "too_long"],
  ])("refuses %s", async (_name, fields, isPermanent, type) => {
    const { provider } = await open();
    const { parts, error } = await speak(provider, fields);
    expect(parts).toEqual([]);
    expect(error).toMatchObject({ isPermanent, type });
  });

  it.each([
    [400, true, true],
    [402, true, true],
    [429, false, true],
    [500, false, true],
    [500, false, false],
    [401, true, false],
  ])("status %i is a permanent failure: %s (of a context: %s)", async (status, isPermanent, withContext) => {
    const { provider } = await open({ refuses: { status, error: `no ${RESPEECHER_KEY}`, withContext } });
    const { error } = await speak(provider);
    expect(error).toMatchObject({ isPermanent, type: String(status) });
    expect(error?.message).toBe(`Respeecher answered status ${String(status)}: no [key]`);
  });
});
