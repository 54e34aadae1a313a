/** The fields of each kind of voice, and their controls. Bounds and hints come from the API schema. */

import type { VoiceKind } from "@parley/schema";

export interface VoiceField {
  readonly name: string;
  readonly label: string;
  readonly type: "text" | "number" | "flag" | "choice" | "json" | "map";
  /** What to type where the interface does not say it. */
  readonly hint?: string;
}

type Listed = readonly [name: string, label: string, type: VoiceField["type"], hint?: string];

const voiceId = (hint: string): Listed => ["voiceId", "Voice ID", "text", hint];
const model = (hint: string): Listed => ["model", "Model", "text", hint];
const SPEED: Listed = ["speed", "Speed", "number"];
const SPEAKING_RATE: Listed = ["speakingRate", "Speaking rate", "number"];
const TEMPERATURE: Listed = ["temperature", "Temperature", "number"];

const LISTED: Readonly<Record<VoiceKind, readonly Listed[]>> = {
  provider1: [
    voiceId("From ElevenLabs' list of voices, such as 21m00Tcm4TlvDq8ikWAM."),
    model("Default: eleven_flash_v2_5."),
    SPEED,
    ["stability", "Stability", "number"],
    ["similarityBoost", "Similarity", "number"],
    ["style", "Style", "number"],
    ["optimizeStreamingLatency", "Latency optimisation", "number"],
    ["maxSampleRate", "Maximum sample rate", "number"],
    ["useSpeakerBoost", "Speaker boost", "flag"],
    ["enableSsmlParsing", "Enable SSML", "flag"],
    ["pronunciationDictionaries", "Pronunciation dictionaries", "json"],
  ],
  provider2: [
    voiceId("From Cartesia's list of voices: 32 digits and letters with dashes."),
    model("Default: sonic-3."),
    ["generationConfig", "Volume, speed and emotion", "json"],
  ],
  provider3: [
    voiceId("From LMNT's list of voices, such as leah."),
    model("Default: chosen by LMNT."),
    SPEED,
    ["conversational", "Conversational", "flag"],
  ],
  provider4: [
    voiceId("Such as en-US-Chirp3-HD-Charon. Voices of Chirp 3 HD begin to speak soonest."),
    SPEAKING_RATE,
  ],
  provider5: [
    voiceId("From Inworld's list of voices, such as Ashley."),
    ["modelId", "Model", "text", "Default: inworld-tts-2."],
    SPEAKING_RATE,
    TEMPERATURE,
    ["applyTextNormalization", "Text normalization", "flag"],
  ],
  provider6: [
    voiceId("From Respeecher's list of voices, such as samantha."),
    model("Such as en-rt. Default: by the language of the call."),
    TEMPERATURE,
    ["seed", "Seed", "number"],
    ["topK", "Top K", "number"],
    ["topP", "Top P", "number"],
    ["minP", "Min P", "number"],
    ["presencePenalty", "Presence penalty", "number"],
    ["frequencyPenalty", "Frequency penalty", "number"],
    ["repetitionPenalty", "Repetition penalty", "number"],
  ],
  generic: [
    ["url", "URL", "text"],
    ["responseMimeType", "Response type", "choice"],
    ["responseSampleRate", "Response sample rate", "number"],
    ["responseWordsPerMinute", "Words per minute", "number"],
    ["jsonAudioFieldPath", "Audio field in a JSON response", "text"],
    ["jsonByteEncoding", "Encoding in a JSON response", "choice"],
    ["body", "Request body", "json"],
    ["headers", "Headers", "map"],
  ],
};

export function fieldsOfKind(kind: VoiceKind): readonly VoiceField[] {
  return LISTED[kind].map(([name, label, type, hint]) => ({
    name,
    label,
    type,
    ...(hint === undefined ? {} : { hint }),
  }));
}
