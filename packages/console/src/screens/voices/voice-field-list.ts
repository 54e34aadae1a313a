/** Which fields each kind of voice has, and how they are filled in. Bounds and hints come from the interface. */

import type { VoiceKind } from "@parley/schema";

export interface VoiceField {
  readonly name: string;
  readonly label: string;
  readonly type: "text" | "number" | "flag" | "choice" | "json" | "map";
}

type Listed = readonly [name: string, label: string, type: VoiceField["type"]];

const VOICE_ID: Listed = ["voiceId", "Voice id", "text"];
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
    ["maxSampleRate", "Highest sample rate", "number"],
    ["useSpeakerBoost", "Speaker boost", "flag"],
    ["enableSsmlParsing", "Reads SSML", "flag"],
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
    ["applyTextNormalization", "Normalises text", "flag"],
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
    ["url", "Address", "text"],
    ["responseMimeType", "Type of its answer", "choice"],
    ["responseSampleRate", "Sample rate of its answer", "number"],
    ["responseWordsPerMinute", "Words per minute", "number"],
    ["jsonAudioFieldPath", "Audio in a JSON answer", "text"],
    ["jsonByteEncoding", "Encoding in a JSON answer", "choice"],
    ["body", "Body of the request", "json"],
    ["headers", "Headers", "map"],
  ],
};

export function fieldsOfKind(kind: VoiceKind): readonly VoiceField[] {
  return LISTED[kind].map(([name, label, type]) => ({ name, label, type }));
}
