import { describe, expect, it } from "vitest";
import { AgentWrite } from "../agents/agent.ts";
import { StartCallRequest } from "../calls/call-requests.ts";
import { problemsOf, type Row } from "../testing/problems.ts";

/** Provider, field, a value at each bound, and values outside with their messages. */
const NUMBERS: readonly (readonly [string, string, readonly number[], readonly number[], string])[] = [
  ["provider1", "speed", [0.7, 1.2], [0.69, 1.21], "must be from 0.7 to 1.2"],
  ["provider1", "stability", [0, 1], [-0.1, 1.1], "must be from 0 to 1"],
  ["provider1", "similarityBoost", [0, 1], [-0.1, 1.1], "must be from 0 to 1"],
  ["provider1", "style", [0, 1], [-0.1, 1.1], "must be from 0 to 1"],
  ["provider1", "optimizeStreamingLatency", [0, 4], [-1, 5, 1.5], "must be a whole number from 0 to 4"],
  ["provider1", "maxSampleRate", [8000, 48_000], [0, 50_000], "must be a whole number from 8000 to 48000"],
  ["provider2", "speed", [-1, 1], [-1.1, 1.1], "must be from -1 to 1"],
  ["provider3", "speed", [0.25, 2], [0.2, 2.1], "must be from 0.25 to 2"],
  ["provider4", "speakingRate", [0.25, 2], [0.2, 2.1], "must be from 0.25 to 2"],
  ["provider5", "speakingRate", [0.5, 1.5], [0.4, 1.6], "must be from 0.5 to 1.5"],
  ["provider5", "temperature", [0.01, 2], [0, 2.1], "must be more than 0 and at most 2"],
  ["provider6", "seed", [-5, 5], [0.5], "must be a whole number"],
  ["provider6", "temperature", [0, 9], [-0.1], "must be at least 0"],
  ["provider6", "topK", [-1, 1, 100], [0], "must be -1 (off) or more than 0"],
  ["provider6", "topK", [-1], [-2], "must be at least -1"],
  ["provider6", "topP", [0.1, 1], [0, 1.1], "must be more than 0 and at most 1"],
  ["provider6", "minP", [0, 1], [-0.1, 1.1], "must be from 0 to 1"],
  ["provider6", "presencePenalty", [0, 2], [-0.1, 2.1], "must be from 0 to 2"],
  ["provider6", "frequencyPenalty", [0, 2], [-0.1, 2.1], "must be from 0 to 2"],
  ["provider6", "repetitionPenalty", [1, 2], [0.9, 2.1], "must be from 1 to 2"],
];

describe("numbers of external voices", () => {
  it.each(NUMBERS)("%s %s", (provider, field, inside, outside, message) => {
    for (const value of inside) {
      expect(problemsOf(StartCallRequest, { externalVoice: { [provider]: { [field]: value } } })).toEqual([]);
    }
    for (const value of outside) {
      expect(problemsOf(StartCallRequest, { externalVoice: { [provider]: { [field]: value } } })).toEqual([
        `externalVoice.${provider}.${field}: ${message}`,
      ]);
    }
  });
});

const url = "https://tts.example/speak";

describe("external voices", () => {
  it.each<Row>([
    [
      "none",
      {},
      [
        "externalVoice: must have exactly one of provider1, provider2, provider3, provider4, provider5, provider6, generic",
      ],
    ],
    [
      "dictionaries",
      { provider1: { pronunciationDictionaries: [{ dictionaryId: "d", versionId: "v" }] } },
      [],
    ],
    [
      "four dictionaries",
      { provider1: { pronunciationDictionaries: Array.from({ length: 4 }, () => ({ dictionaryId: "d" })) } },
      ["externalVoice.provider1.pronunciationDictionaries: must have at most 3 entries"],
    ],
    [
      "generation settings",
      {
        provider2: {
          generationConfig: { volume: 0.4, speed: 1.6, emotion: "calm", pronunciationDictId: "x" },
        },
      },
      [
        "externalVoice.provider2.generationConfig.volume: must be from 0.5 to 2",
        "externalVoice.provider2.generationConfig.speed: must be from 0.6 to 1.5",
      ],
    ],
    [
      "generic",
      {
        generic: {
          url,
          headers: { Authorization: "Bearer key" },
          body: { input: [{ say: "{text}" }] },
          responseSampleRate: 24_000,
          responseWordsPerMinute: 150,
          responseMimeType: "application/json",
          jsonAudioFieldPath: "audio.0.data",
          jsonByteEncoding: "JSON_BYTE_ENCODING_HEX",
        },
      },
      [],
    ],
    [
      "generic without an address",
      { generic: { body: { t: "{text}" } } },
      ["externalVoice.generic.url: is required"],
    ],
    [
      "generic in every way wrong",
      {
        generic: {
          url: "file:///etc/passwd",
          body: { t: "text" },
          responseSampleRate: 4000,
          responseWordsPerMinute: 0,
          responseMimeType: "audio/mpeg",
          jsonAudioFieldPath: "a..b",
        },
      },
      [
        "externalVoice.generic.url: must be a URL that begins with http:// or https://",
        "externalVoice.generic.body: must contain {text} in one of its texts",
        "externalVoice.generic.responseSampleRate: must be a whole number from 8000 to 48000",
        "externalVoice.generic.responseWordsPerMinute: must be a whole number from 1 to 1000",
        "externalVoice.generic.responseMimeType: must be one of audio/l16, audio/wav, application/json, application/jsonl",
        "externalVoice.generic.jsonAudioFieldPath: must be a dotted path",
      ],
    ],
  ])("%s", (_, externalVoice, problems) => {
    expect(problemsOf(StartCallRequest, { externalVoice })).toEqual(problems);
  });
});

const price = "cannot be overridden, because it would change the price or the voice itself";

describe("voice, externalVoice and voiceOverrides", () => {
  it.each<Row>([
    ["a voice", { voice: "nova" }, []],
    [
      "a voice with overrides",
      { voice: "nova", voiceOverrides: { provider1: { speed: 1.1, style: 0.5 } } },
      [],
    ],
    [
      "two voices",
      { voice: "nova", externalVoice: { provider3: {} } },
      ["externalVoice: must not be given together with voice"],
    ],
    [
      "overrides of nothing",
      { voiceOverrides: { provider1: {} } },
      ["voiceOverrides: must only be given together with voice"],
    ],
    [
      "overrides of an external voice",
      { externalVoice: { provider1: {} }, voiceOverrides: { provider1: {} } },
      ["voiceOverrides: must only be given together with voice"],
    ],
    [
      "overrides that change the price",
      {
        voice: "nova",
        voiceOverrides: {
          provider1: { voice_id: "x", model: "m", maxSampleRate: 8000, optimizeStreamingLatency: 1 },
        },
      },
      ["voiceId", "model", "maxSampleRate", "optimizeStreamingLatency"].map(
        (field) => `voiceOverrides.provider1.${field}: ${price}`,
      ),
    ],
    [
      "overrides of a generic voice",
      { voice: "nova", voiceOverrides: { generic: { url, headers: {}, responseWordsPerMinute: 120 } } },
      ["url", "headers"].map((field) => `voiceOverrides.generic.${field}: ${price}`),
    ],
    [
      "overrides of two providers",
      { voice: "nova", voiceOverrides: { provider4: {}, provider5: { modelId: "m" } } },
      [
        `voiceOverrides.provider5.modelId: ${price}`,
        "voiceOverrides: must have exactly one of provider1, provider2, provider3, provider4, provider5, provider6, generic; it has provider4 and provider5",
      ],
    ],
  ])("%s", (_, body, problems) => {
    expect(problemsOf(StartCallRequest, body)).toEqual(problems);
    expect(problemsOf(AgentWrite, { callTemplate: body })).toEqual(
      problems.map((text) => `callTemplate.${text}`),
    );
  });

  it("refuses price fields even where unknown fields are ignored", () => {
    const body = { voice: "nova", voiceOverrides: { provider1: { model: "m" } } };
    expect(problemsOf(StartCallRequest, body, { lenient: true })).toEqual([
      `voiceOverrides.provider1.model: ${price}`,
    ]);
  });
});
