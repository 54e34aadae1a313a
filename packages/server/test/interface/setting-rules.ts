/** Rows about the settings inside a call template: medium, messages, voice activity, speakers, voices. */

import type { DataMessageFlag } from "@parley/schema";
import { call, type Proof, type Rules, settingRefuses, settingTakes, template } from "./rules.ts";

const outgoing = { to: "+14155550123", from: "+14155550100", additionalParams: { Timeout: 20 } };

/** A carrier's medium: with and without a call that the service places. */
function carrier(name: string): readonly Proof[] {
  return [
    template.accepts({ medium: { [name]: {} } }),
    template.accepts({ medium: { [name]: { outgoing } } }),
    ...settingRefuses({ medium: { [name]: { outgoing: { to: 5 } } } }, `medium.${name}.outgoing.to`),
    ...settingRefuses({ medium: { [name]: { dialled: true } } }, `medium.${name}.dialled`),
  ];
}

const webSocket = (more: object): Record<string, unknown> => ({
  medium: { serverWebSocket: { inputSampleRate: 16_000, ...more } },
});

export const mediumRules: Rules<
  | "at most one key"
  | "webRtc"
  | "telephony1"
  | "serverWebSocket.inputSampleRate"
  | "serverWebSocket.outputSampleRate"
  | "serverWebSocket.clientBufferSizeMs"
  | "serverWebSocket.dataMessages"
  | "telephony2"
  | "telephony3"
  | "telephony4"
  | "sip"
> = {
  "at most one key": [
    template.accepts({ medium: {} }),
    ...settingRefuses({ medium: { webRtc: {}, telephony4: {} } }, "medium"),
    ...settingRefuses({ medium: { carrierPigeon: {} } }, "medium.carrierPigeon"),
  ],
  webRtc: [
    template.accepts({ medium: { webRtc: {} } }),
    template.accepts({ medium: { webRtc: { dataMessages: { pong: false } } } }),
    ...settingRefuses({ medium: { webRtc: { codec: "opus" } } }, "medium.webRtc.codec"),
  ],
  telephony1: carrier("telephony1"),
  "serverWebSocket.inputSampleRate": [
    ...[8000, 48_000].flatMap((inputSampleRate) => settingTakes(webSocket({ inputSampleRate }))),
    ...[7999, 48_001, 16_000.5, "16000"].flatMap((inputSampleRate) =>
      settingRefuses(webSocket({ inputSampleRate }), "medium.serverWebSocket.inputSampleRate"),
    ),
    ...settingRefuses({ medium: { serverWebSocket: {} } }, "medium.serverWebSocket.inputSampleRate"),
  ],
  "serverWebSocket.outputSampleRate": [
    ...settingTakes(webSocket({ outputSampleRate: 24_000 })),
    ...settingRefuses(webSocket({ outputSampleRate: 7999 }), "medium.serverWebSocket.outputSampleRate"),
  ],
  "serverWebSocket.clientBufferSizeMs": [
    ...[0, 60, 120_000].flatMap((clientBufferSizeMs) => settingTakes(webSocket({ clientBufferSizeMs }))),
    ...[-1, 120_001, 0.5].flatMap((clientBufferSizeMs) =>
      settingRefuses(webSocket({ clientBufferSizeMs }), "medium.serverWebSocket.clientBufferSizeMs"),
    ),
  ],
  "serverWebSocket.dataMessages": [
    ...settingTakes(webSocket({ dataMessages: { debug: true } })),
    ...settingRefuses(
      webSocket({ dataMessages: { shouts: true } }),
      "medium.serverWebSocket.dataMessages.shouts",
    ),
  ],
  telephony2: carrier("telephony2"),
  telephony3: carrier("telephony3"),
  telephony4: [
    template.accepts({ medium: { telephony4: {} } }),
    ...settingRefuses({ medium: { telephony4: { outgoing } } }, "medium.telephony4.outgoing"),
  ],
  sip: [
    template.accepts({ medium: { sip: { incoming: {} } } }),
    template.accepts({ medium: { sip: { outgoing: { to: "sip:a@b.example", from: "c" } } } }),
    template.accepts(
      {
        medium: {
          sip: { outgoing: { to: "sip:a@b.example", from: "c", username: "u", password: "hidden" } },
        },
      },
      { medium: { sip: { outgoing: { username: "u", password: undefined } } } },
    ),
    ...settingRefuses({ medium: { sip: {} } }, "medium.sip"),
    ...settingRefuses({ medium: { sip: { incoming: {}, outgoing: { to: "a", from: "b" } } } }, "medium.sip"),
  ],
};

/** The interface page has no row for `invokingTool`. */
type Flag = Exclude<DataMessageFlag, "invokingTool">;

function flag(name: Flag): readonly Proof[] {
  const dataMessages = (value: unknown): Record<string, unknown> =>
    webSocket({ dataMessages: { [name]: value } });
  return [
    ...settingTakes(dataMessages(true)),
    ...settingTakes(dataMessages(false)),
    ...settingRefuses(dataMessages("yes"), `medium.serverWebSocket.dataMessages.${name}`),
  ];
}

export const messageFlagRules: Rules<Flag> = {
  pong: flag("pong"),
  state: flag("state"),
  transcript: flag("transcript"),
  clientToolInvocation: flag("clientToolInvocation"),
  dataConnectionToolInvocation: flag("dataConnectionToolInvocation"),
  playbackClearBuffer: flag("playbackClearBuffer"),
  callStarted: flag("callStarted"),
  debug: flag("debug"),
  callEvent: flag("callEvent"),
  toolUsed: flag("toolUsed"),
  userStartedSpeaking: flag("userStartedSpeaking"),
  userStoppedSpeaking: flag("userStoppedSpeaking"),
};

const websocketUrl = "wss://data.example/x";

export const dataConnectionRules: Rules<"websocketUrl" | "audioConfig" | "dataMessages"> = {
  websocketUrl: [
    template.accepts({ dataConnection: { websocketUrl } }),
    ...settingRefuses({ dataConnection: {} }, "dataConnection.websocketUrl"),
    ...["https://data.example", "data.example", ""].flatMap((url) =>
      settingRefuses({ dataConnection: { websocketUrl: url } }, "dataConnection.websocketUrl"),
    ),
    ...settingRefuses({ dataConnection: { websocketUrl: "ws://10.0.0.1/x" } }, "dataConnection.websocketUrl"),
  ],
  audioConfig: [
    template.accepts({ dataConnection: { websocketUrl, audioConfig: { sampleRate: 8000 } } }),
    ...[7999, 48_001, "16000"].flatMap((sampleRate) =>
      settingRefuses(
        { dataConnection: { websocketUrl, audioConfig: { sampleRate } } },
        "dataConnection.audioConfig.sampleRate",
      ),
    ),
  ],
  dataMessages: [
    template.accepts({ dataConnection: { websocketUrl, dataMessages: { state: false } } }),
    ...settingRefuses(
      { dataConnection: { websocketUrl, dataMessages: { x: 1 } } },
      "dataConnection.dataMessages.x",
    ),
  ],
};

function vadDuration(name: string, byDefault: string): readonly Proof[] {
  const setting = (value: unknown): Record<string, unknown> => ({ vadSettings: { [name]: value } });
  return [
    ...["0s", "0.001s", "10s", byDefault].flatMap((value) => settingTakes(setting(value))),
    ...["-0.1s", "10.001s", "384ms", 0.384].flatMap((value) =>
      settingRefuses(setting(value), `vadSettings.${name}`),
    ),
  ];
}

export const vadRules: Rules<
  "turnEndpointDelay" | "minimumTurnDuration" | "minimumInterruptionDuration" | "frameActivationThreshold"
> = {
  turnEndpointDelay: vadDuration("turnEndpointDelay", "0.384s"),
  minimumTurnDuration: vadDuration("minimumTurnDuration", "0s"),
  minimumInterruptionDuration: vadDuration("minimumInterruptionDuration", "0.09s"),
  frameActivationThreshold: [
    ...[0.1, 0.5, 1].flatMap((frameActivationThreshold) =>
      settingTakes({ vadSettings: { frameActivationThreshold } }),
    ),
    ...[0.09, 1.01, "0.5"].flatMap((frameActivationThreshold) =>
      settingRefuses({ vadSettings: { frameActivationThreshold } }, "vadSettings.frameActivationThreshold"),
    ),
  ],
};

const first = (settings: object): Record<string, unknown> => ({ firstSpeakerSettings: settings });

export const firstSpeakerRules: Rules<"exactly one" | "user.fallback" | "agent"> = {
  "exactly one": [
    ...settingTakes(first({ user: {} })),
    call.accepts(first({ user: {} }), { firstSpeaker: "FIRST_SPEAKER_USER" }),
    ...settingRefuses(first({}), "firstSpeakerSettings"),
    ...settingRefuses(first({ user: {}, agent: {} }), "firstSpeakerSettings"),
    ...settingRefuses(first({ nobody: {} }), "firstSpeakerSettings.nobody"),
    call.refuses({ firstSpeaker: "FIRST_SPEAKER_USER", ...first({ agent: {} }) }, "firstSpeaker"),
  ],
  "user.fallback": [
    ...settingTakes(
      first({ user: { fallback: { delay: "2s", text: "Hello?", prompt: "Ask for the name." } } }),
    ),
    ...settingRefuses(
      first({ user: { fallback: { delay: 2 } } }),
      "firstSpeakerSettings.user.fallback.delay",
    ),
  ],
  agent: [
    ...settingTakes(
      first({ agent: { uninterruptible: true, text: "Hello.", prompt: "Greet.", delay: "0.5s" } }),
    ),
    ...settingRefuses(first({ agent: { uninterruptible: 1 } }), "firstSpeakerSettings.agent.uninterruptible"),
  ],
};

/** One member of a provider's voice, at its bounds and just outside. */
function voiceNumber(
  provider: string,
  name: string,
  good: readonly unknown[],
  bad: readonly unknown[],
): readonly Proof[] {
  const setting = (value: unknown): Record<string, unknown> => ({
    externalVoice: { [provider]: { [name]: value } },
  });
  return [
    ...good.map((value) => template.accepts(setting(value))),
    ...bad.map((value) => template.refuses(setting(value), `externalVoice.${provider}.${name}`)),
  ];
}

const voice = (provider: string, value: object): Record<string, unknown> => ({
  externalVoice: { [provider]: value },
});

export const voiceRules: Rules<
  | "exactly one key"
  | "provider1"
  | "provider2"
  | "provider3"
  | "provider4"
  | "provider5"
  | "provider6"
  | "generic"
> = {
  "exactly one key": [
    ...settingRefuses({ externalVoice: {} }, "externalVoice"),
    ...settingRefuses({ externalVoice: { provider3: {}, provider4: {} } }, "externalVoice"),
    ...settingRefuses({ externalVoice: { provider7: {} } }, "externalVoice.provider7"),
  ],
  provider1: [
    template.accepts(voice("provider1", { voiceId: "v", model: "m", useSpeakerBoost: true })),
    ...voiceNumber("provider1", "speed", [0.7, 1.2], [0.69, 1.21, "1"]),
    ...voiceNumber("provider1", "style", [0, 1], [-0.1, 1.1]),
    ...voiceNumber("provider1", "similarityBoost", [0, 1], [-0.1, 1.1]),
    ...voiceNumber("provider1", "stability", [0, 1], [-0.1, 1.1]),
    ...voiceNumber("provider1", "optimizeStreamingLatency", [0, 4], [5, 1.5]),
    ...voiceNumber("provider1", "maxSampleRate", [24_000], [24_000.5]),
    ...voiceNumber(
      "provider1",
      "pronunciationDictionaries",
      [[{ dictionaryId: "d", versionId: "1" }]],
      [Array.from({ length: 4 }, () => ({ dictionaryId: "d" }))],
    ),
  ],
  provider2: [
    template.accepts(voice("provider2", { voiceId: "v", model: "m", emotion: "calm", emotions: ["calm"] })),
    ...voiceNumber("provider2", "speed", [-1, 1], [-1.1, 1.1]),
    template.accepts(
      voice("provider2", {
        generationConfig: { volume: 0.5, speed: 1.5, emotion: "x", pronunciationDictId: "d" },
      }),
    ),
    template.refuses(
      voice("provider2", { generationConfig: { volume: 0.4 } }),
      "externalVoice.provider2.generationConfig.volume",
    ),
    template.refuses(
      voice("provider2", { generationConfig: { speed: 1.6 } }),
      "externalVoice.provider2.generationConfig.speed",
    ),
  ],
  provider3: [
    template.accepts(voice("provider3", { voiceId: "v", model: "m", conversational: true })),
    ...voiceNumber("provider3", "speed", [0.25, 2], [0.24, 2.1]),
  ],
  provider4: [
    template.accepts(voice("provider4", { voiceId: "v" })),
    ...voiceNumber("provider4", "speakingRate", [0.25, 2], [0.24, 2.1]),
  ],
  provider5: [
    template.accepts(voice("provider5", { voiceId: "v", modelId: "m", applyTextNormalization: true })),
    ...voiceNumber("provider5", "speakingRate", [0.5, 1.5], [0.4, 1.6]),
    ...voiceNumber("provider5", "temperature", [0.1, 2], [0, 2.1]),
  ],
  provider6: [
    template.accepts(voice("provider6", { voiceId: "v" })),
    ...voiceNumber("provider6", "seed", [7], [7.5]),
    ...voiceNumber("provider6", "temperature", [0, 5], [-1]),
    ...voiceNumber("provider6", "topK", [-1, 1], [0, -2, 1.5]),
    ...voiceNumber("provider6", "topP", [0.1, 1], [0, 1.1]),
    ...voiceNumber("provider6", "minP", [0, 1], [-0.1, 1.1]),
    ...voiceNumber("provider6", "presencePenalty", [0, 2], [-0.1, 2.1]),
    ...voiceNumber("provider6", "frequencyPenalty", [0, 2], [-0.1, 2.1]),
    ...voiceNumber("provider6", "repetitionPenalty", [1, 2], [0.9, 2.1]),
  ],
  generic: [
    template.accepts(
      voice("generic", {
        url: "https://tts.example",
        body: { text: "{text}" },
        responseSampleRate: 24_000,
        responseWordsPerMinute: 140,
        responseMimeType: "audio/l16",
        jsonAudioFieldPath: "a.b",
      }),
    ),
    template.accepts(
      voice("generic", { url: "https://tts.example", headers: { Authorization: "Bearer secret-token" } }),
      voice("generic", { headers: { Authorization: "Bear…" } }),
    ),
    template.refuses(voice("generic", {}), "externalVoice.generic.url"),
    template.refuses(voice("generic", { url: "ftp://tts.example" }), "externalVoice.generic.url"),
    template.refuses(
      voice("generic", { url: "https://tts.example", body: { a: "b" } }),
      "externalVoice.generic.body",
    ),
    template.refuses(
      voice("generic", { url: "https://tts.example", responseSampleRate: 7999 }),
      "externalVoice.generic.responseSampleRate",
    ),
    template.refuses(
      voice("generic", { url: "https://tts.example", responseMimeType: "audio/mp3" }),
      "externalVoice.generic.responseMimeType",
    ),
  ],
};

const timed = (message: object): Record<string, unknown> => ({
  inactivityMessages: [{ duration: "5s", message: "?", ...message }],
});

export const timedMessageRules: Rules<"duration" | "message" | "endBehavior"> = {
  duration: [
    ...settingTakes(timed({ duration: "0.5s" })),
    ...["0s", "-1s", "5"].flatMap((duration) =>
      settingRefuses(timed({ duration }), "inactivityMessages.0.duration"),
    ),
  ],
  message: [
    ...settingTakes(timed({ message: "Are you there?" })),
    template.accepts(timed({ message: "Are you there, {{guest}}?" })),
    ...settingRefuses(timed({ message: 5 }), "inactivityMessages.0.message"),
  ],
  endBehavior: [
    ...["END_BEHAVIOR_HANG_UP_SOFT", "END_BEHAVIOR_HANG_UP_STRICT"].flatMap((endBehavior) =>
      settingTakes(timed({ endBehavior })),
    ),
    template.accepts(timed({ endBehavior: "END_BEHAVIOR_UNSPECIFIED" }), timed({ endBehavior: undefined })),
    ...settingRefuses(timed({ endBehavior: "HANG_UP" }), "inactivityMessages.0.endBehavior"),
  ],
};
