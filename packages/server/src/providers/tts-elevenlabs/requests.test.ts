import { describe, expect, it } from "vitest";
import type { ProviderVoice, VoiceUse } from "../../ports/voice-provider.ts";
import {
  DialogueQuery,
  FlushDialogue,
  InitialiseContext,
  InitialiseDialogue,
  Query,
  SendInputs,
  SendText,
} from "./contract.ts";
import { readAnswer, readClose } from "./answers.ts";
import { messagesFor, urlOf } from "./requests.ts";

const BASE = "https://api.elevenlabs.io";

function use(voice: ProviderVoice<"provider1">, language: string | null = null): VoiceUse<"provider1"> {
  return { voice, key: "k", output: { sampleRateHz: 16_000, encoding: "pcm" }, language };
}

function queryOf(voice: ProviderVoice<"provider1">, language: string | null = null) {
  return Query.parse(Object.fromEntries(new URL(urlOf(BASE, use(voice, language))).searchParams));
}

describe("what is sent to ElevenLabs", () => {
  it("puts what is fixed for a socket into its address", () => {
    const url = new URL(urlOf(`${BASE}/proxy/`, use({ voiceId: "a/b?c" })));
    expect(url.href.split("?")[0]).toBe(
      "wss://api.elevenlabs.io/proxy/v1/text-to-speech/a%2Fb%3Fc/multi-stream-input",
    );
    expect(queryOf({ voiceId: "v" })).toEqual({
      model_id: "eleven_flash_v2_5",
      output_format: "pcm_16000",
      inactivity_timeout: 180,
      sync_alignment: "true",
      auto_mode: "true",
    });
    expect(queryOf({ voiceId: "v", enableSsmlParsing: true, optimizeStreamingLatency: 0 })).toMatchObject({
      enable_ssml_parsing: "true",
      optimize_streaming_latency: 0,
    });
  });

  it.each([
    ["eleven_flash_v2_5", "de-CH", "de"],
    ["eleven_turbo_v2_5", "nb-NO", "no"],
    ["eleven_flash_v2_5", "tl", "fil"],
    ["eleven_flash_v2_5", "cy", undefined],
    ["eleven_flash_v2_5", null, undefined],
    ["eleven_multilingual_v2", "de", undefined],
  ])("sends the language where %s takes it: %s", (model, language, code) => {
    expect(queryOf({ voiceId: "v", model }, language).language_code).toBe(code);
  });

  it("sends all settings, only those that are set, and only in the first message", () => {
    const voice: ProviderVoice<"provider1"> = {
      voiceId: "v",
      speed: 0.7,
      stability: 0,
      similarityBoost: 1,
      style: 0.5,
      useSpeakerBoost: false,
      pronunciationDictionaries: [{ dictionaryId: "d1", versionId: "v1" }, { dictionaryId: "d2" }],
    };
    const [first = "", second = "", third = ""] = messagesFor("c1", voice, "Hello.");
    expect(InitialiseContext.parse(JSON.parse(first))).toEqual({
      text: " ",
      context_id: "c1",
      voice_settings: { speed: 0.7, stability: 0, similarity_boost: 1, style: 0.5, use_speaker_boost: false },
      pronunciation_dictionary_locators: [
        { pronunciation_dictionary_id: "d1", version_id: "v1" },
        { pronunciation_dictionary_id: "d2" },
      ],
    });
    expect(SendText.parse(JSON.parse(second))).toEqual({ text: "Hello. ", context_id: "c1", flush: true });
    expect(JSON.parse(third)).toEqual({ context_id: "c1", close_context: true });
    expect(JSON.parse(messagesFor("c2", { voiceId: "v" }, "x")[0] ?? "")).toEqual({
      text: " ",
      context_id: "c2",
    });
  });
});

describe("what is sent to ElevenLabs for Eleven v3 and v4", () => {
  it.each(["eleven_v3", "eleven_v3_conversational", "eleven_v4", "eleven_v4_turbo"])(
    "asks the websocket for dialogue for %s",
    (model) => {
      const voice = { voiceId: "v", model, enableSsmlParsing: true, optimizeStreamingLatency: 1 };
      const url = new URL(urlOf(BASE, use(voice, "de-CH")));
      expect(url.href.split("?")[0]).toBe("wss://api.elevenlabs.io/v1/text-to-dialogue/multi-stream-input");
      expect(DialogueQuery.parse(Object.fromEntries(url.searchParams))).toEqual({
        model_id: model,
        output_format: "pcm_16000",
        language_code: "de",
        sync_alignment: "true",
      });
    },
  );

  it.each(["eleven_flash_v2_5", "eleven_multilingual_v2", "eleven_turbo_v2"])(
    "asks the websocket for speech for %s",
    (model) => {
      expect(urlOf(BASE, use({ voiceId: "v", model }))).toContain("/v1/text-to-speech/v/multi-stream-input?");
    },
  );

  it.each([
    ["eleven_v4_turbo", 0.4, 0.4],
    ["eleven_v3", 0.4, 0.5],
    ["eleven_v3", 0.2, 0],
    ["eleven_v3_conversational", 0.8, 1],
  ])("sends of the settings only the stability, for %s %d as %d", (model, stability, sent) => {
    const voice: ProviderVoice<"provider1"> = {
      voiceId: "v",
      model,
      stability,
      speed: 1.1,
      style: 0.5,
      pronunciationDictionaries: [{ dictionaryId: "d1" }],
    };
    const [first = "", second = "", third = "", fourth = ""] = messagesFor("c1", voice, "Hello.");
    expect(InitialiseDialogue.parse(JSON.parse(first))).toEqual({
      context_id: "c1",
      voices: ["v"],
      voice_settings: { stability: sent },
      pronunciation_dictionary_locators: [{ pronunciation_dictionary_id: "d1" }],
    });
    expect(SendInputs.parse(JSON.parse(second))).toEqual({
      context_id: "c1",
      inputs: [{ text: "Hello.", voice_id: "v", new_turn: true }],
    });
    expect(FlushDialogue.parse(JSON.parse(third))).toEqual({ context_id: "c1", flush: true });
    expect(JSON.parse(fourth)).toEqual({ context_id: "c1", close_context: true });
  });
});

describe("what ElevenLabs answers", () => {
  const read = (value: unknown) => readAnswer(JSON.stringify(value), ["secret-key"]);

  it.each([
    ["quota_exceeded", 1_008, true],
    ["voice_id_does_not_exist", undefined, true],
    ["something_new", 1_008, true],
    ["something_new", 1_011, false],
    ["max_active_conversations", 1_008, false],
    ["input_timeout_exceeded", 1_008, false],
    ["system_busy", undefined, false],
  ])("takes the error %s with %s as permanent: %s", (error, code, isPermanent) => {
    const routed = read({ error, code, message: "About secret-key." });
    expect(routed).toMatchObject({ lost: { isPermanent, type: error } });
    expect(routed).toMatchObject({ lost: { message: "ElevenLabs answered About [key]." } });
  });

  it("gives an error with a context to that context", () => {
    expect(read({ error: "Long sentence: no.", context_id: "c1" })).toMatchObject({
      to: "c1",
      message: { failure: { type: "error", message: "ElevenLabs answered Long sentence: no." } },
    });
  });

  it("ignores what has no context and refuses other shapes", () => {
    expect(read({ audio: "AAAA" })).toBeNull();
    for (const value of [null, [], 7, "text", { audio: 7 }])
      expect(() => read(value)).toThrow(/another shape|not an object/);
    expect(() => readAnswer("{", [])).toThrow("not JSON");
    expect(() => readAnswer(Uint8Array.of(1), [])).toThrow("binary");
  });

  it.each([{ chars: "abc" }, ["a", "b"], { characters: ["a"], character_start_times_seconds: [0] }])(
    "plays the audio where the times have another shape: %j",
    (alignment) => {
      const routed = read({ audio: "AAAA", contextId: "c", alignment });
      expect(routed).toEqual({ to: "c", message: { audio: "AAAA", isLast: false } });
    },
  );

  it("reads a policy close as a refusal, unless it names a time limit", () => {
    expect(readClose(1_000, "")).toBeNull();
    expect(readClose(1_008, "")).toMatchObject({ isPermanent: true });
    expect(readClose(1_008, "Have not received a new text input within the timeout")).toMatchObject({
      isPermanent: false,
    });
  });
});
