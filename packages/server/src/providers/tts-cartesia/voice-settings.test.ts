import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ProviderVoice, VoiceUse } from "../../ports/voice-provider.ts";
import { readAnswer } from "./answers.ts";
import { GenerationConfig, GenerationRequest, LegacyControls } from "./contract.ts";
import { generationRequest } from "./requests.ts";
import { isLegacyModel, settingsFor } from "./voice-settings.ts";

function use(
  voice: ProviderVoice<"provider2">,
  fields: Partial<VoiceUse<"provider2">> = {},
): VoiceUse<"provider2"> {
  return { voice, key: "k", output: { sampleRateHz: 16_000, encoding: "pcm" }, language: null, ...fields };
}

describe("settings of a Cartesia voice", () => {
  it.each([
    ["sonic-3", false],
    ["sonic-3.5", false],
    ["sonic-3-2026-01-12", false],
    ["sonic-latest", false],
    ["something-new", false],
    ["sonic-2", true],
    ["sonic-2-2025-03-07", true],
    ["sonic-turbo", true],
    ["sonic-english", true],
    ["sonic", true],
  ])("%s has the legacy controls: %s", (model, isLegacy) => {
    expect(isLegacyModel(model)).toBe(isLegacy);
  });

  it("sends generationConfig to newer models as it is", () => {
    const generationConfig = { speed: 1.2, volume: 0.5, emotion: "calm", pronunciationDictId: "d1" };
    expect(settingsFor({ generationConfig, speed: -1, emotion: "anger" })).toEqual({
      version: "2025-11-04",
      generationConfig: { speed: 1.2, volume: 0.5, emotion: "calm" },
      legacyControls: null,
    });
    expect(generationRequest("c", use({ voiceId: "v", generationConfig }), "Hi")).toMatchObject({
      pronunciation_dict_id: "d1",
      model_id: "sonic-3",
    });
  });

  it.each([
    [-1, 0.6],
    [-0.5, 0.8],
    [0, 1],
    [0.5, 1.25],
    [1, 1.5],
  ])("turns the legacy speed %d into %d for newer models, and back for older ones", (legacy, multiplier) => {
    expect(settingsFor({ speed: legacy }).generationConfig).toEqual({ speed: multiplier });
    const older = settingsFor({ model: "sonic-2", generationConfig: { speed: multiplier } });
    expect(older.legacyControls).toEqual({ speed: legacy });
    expect(older.version).toBe("2024-11-13");
  });

  it.each<[ProviderVoice<"provider2">, string]>([
    [{ emotion: "positivity:high" }, "happy"],
    [{ emotions: ["curiosity", "anger:low"] }, "curious"],
    [{ emotion: "Excited" }, "excited"],
  ])("turns %j into the emotion %s for newer models", (voice, emotion) => {
    expect(settingsFor(voice).generationConfig).toEqual({ emotion });
  });

  it("sends older models the emotions that they have", () => {
    const emotions = ["positivity:high", "calm", "sadness"];
    expect(settingsFor({ model: "sonic-turbo", emotions }).legacyControls).toEqual({
      emotion: ["positivity:high", "sadness"],
    });
    expect(settingsFor({ model: "sonic-2", emotion: "anger" }).legacyControls).toEqual({
      emotion: ["anger"],
    });
    expect(settingsFor({ model: "sonic-2", generationConfig: { emotion: "sad", volume: 2 } })).toEqual({
      version: "2024-11-13",
      generationConfig: null,
      legacyControls: { emotion: ["sadness"] },
    });
    expect(settingsFor({ model: "sonic-2" })).toEqual({
      version: "2025-11-04",
      generationConfig: null,
      legacyControls: null,
    });
  });

  it("stays within the bounds of the vendor for all settings of the interface", () => {
    const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
    fc.assert(
      fc.property(
        fc.constantFrom("sonic-2", "sonic-3"),
        optional(fc.double({ min: -1, max: 1, noNaN: true })),
        optional(fc.double({ min: 0.6, max: 1.5, noNaN: true })),
        (model, speed, multiplier) => {
          const voice = {
            model,
            ...(speed === undefined ? {} : { speed }),
            ...(multiplier === undefined ? {} : { generationConfig: { speed: multiplier } }),
          };
          const { generationConfig, legacyControls } = settingsFor(voice);
          expect(GenerationConfig.nullable().safeParse(generationConfig).success).toBe(true);
          expect(LegacyControls.nullable().safeParse(legacyControls).success).toBe(true);
        },
      ),
    );
  });
});

describe("what is sent to Cartesia", () => {
  it("has the shape that the vendor documents", () => {
    const request = generationRequest("c1", use({ voiceId: "v1" }, { language: "de-CH" }), "Guten Tag.");
    expect(GenerationRequest.parse(request)).toEqual({
      context_id: "c1",
      model_id: "sonic-3",
      transcript: "Guten Tag.",
      voice: { mode: "id", id: "v1" },
      output_format: { container: "raw", encoding: "pcm_s16le", sample_rate: 16_000 },
      language: "de",
      continue: false,
      max_buffer_delay_ms: 0,
      add_timestamps: true,
    });
  });

  it.each([
    ["sonic-3", "fil", "tl"],
    ["sonic-3", "nb-NO", "no"],
    ["sonic-3", "ta", "ta"],
    ["sonic-2", "ta", undefined],
    ["sonic-2", "en-US", "en"],
    ["sonic-3", "cy", undefined],
    ["sonic-3", null, undefined],
  ])("sends the language where %s has it: %s", (model, language, code) => {
    expect(generationRequest("c", use({ voiceId: "v", model }, { language }), "x").language).toBe(code);
  });

  it.each([
    [{ sampleRateHz: 8_000, encoding: "mulaw" }, "pcm_mulaw", 8_000],
    [{ sampleRateHz: 12_000, encoding: "pcm" }, "pcm_s16le", 16_000],
    [{ sampleRateHz: 48_000, encoding: "pcm" }, "pcm_s16le", 48_000],
  ] as const)("asks for the nearest format of %j", (output, encoding, rateHz) => {
    const { output_format: format } = generationRequest("c", use({ voiceId: "v" }, { output }), "x");
    expect(format).toEqual({ container: "raw", encoding, sample_rate: rateHz });
  });
});

describe("what Cartesia answers", () => {
  const read = (value: unknown) => readAnswer(JSON.stringify(value), ["secret-key"]);

  it.each([
    [401, null, true],
    [402, null, true],
    [404, "voice_not_found", true],
    [400, "model_not_found", true],
    [400, null, false],
    [429, "concurrency_limited", false],
    [429, "quota_exceeded", false],
    [500, null, false],
  ])("takes %i %s as permanent: %s", (status, code, isPermanent) => {
    const error = {
      type: "error",
      context_id: "c1",
      status_code: status,
      error_code: code,
      message: "No secret-key",
    };
    expect(read(error)).toMatchObject({
      to: "c1",
      message: {
        failure: {
          isPermanent,
          type: String(status),
          message: `Cartesia answered ${String(status)}: No [key]`,
        },
      },
    });
  });

  it("gives an error without a context to all, ignores the rest, and refuses other shapes", () => {
    expect(read({ type: "error", error: "broken" })).toMatchObject({ to: null });
    expect(read({ type: "pong" })).toBeNull();
    expect(read({ type: "something_new", context_id: "c1", extra: 1 })).toEqual({
      to: "c1",
      message: { isLast: false },
    });
    for (const value of [null, [], 7, { type: 7 }, { type: "chunk", data: 7 }])
      expect(() => read(value)).toThrow(/another shape|not an object/);
    expect(() => readAnswer("{", [])).toThrow("not JSON");
    expect(() => readAnswer(Uint8Array.of(1), [])).toThrow("binary");
  });

  it("leaves out times of another shape", () => {
    expect(read({ type: "timestamps", context_id: "c1", word_timestamps: [] })).toEqual({
      to: "c1",
      message: { isLast: false },
    });
  });
});
