/** The fields of each kind of voice, and their controls. Bounds and hints come from the API schema. */

import type { VoiceKind } from "@parley/schema";

export interface VoiceField {
  readonly name: string;
  readonly label: string;
  readonly type: "text" | "number" | "flag" | "choice" | "json" | "map";
}

type Listed = readonly [name: string, label: string, type: VoiceField["type"]];

const VOICE_ID: Listed = ["voiceId", "Voice ID", "text"];
const MODEL: Listed = ["model", "Model", "text"];
const SPEED: Listed = ["speed", "Speed", "number"];
const SPEAKING_RATE: Listed = ["speakingRate", "Speaking rate", "number"];
const TEMPERATURE: Listed = ["temperature", "Temperature", "number"];

const LISTED: Readonly<Record<VoiceKind, readonly Listed[]>> = {
  provider1: [
    VOICE_ID,
    MODEL,
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
  provider2: [VOICE_ID, MODEL, ["generationConfig", "Volume, speed and emotion", "json"]],
  provider3: [VOICE_ID, MODEL, SPEED, ["conversational", "Conversational", "flag"]],
  provider4: [VOICE_ID, SPEAKING_RATE],
  provider5: [
    VOICE_ID,
    ["modelId", "Model", "text"],
    SPEAKING_RATE,
    TEMPERATURE,
    ["applyTextNormalization", "Text normalization", "flag"],
  ],
  provider6: [
    VOICE_ID,
    MODEL,
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
  return LISTED[kind].map(([name, label, type]) => ({ name, label, type }));
}
