/** How a call is connected, and the messages beside its audio. */

import { z } from "zod";
import { HEADER_PREFIXES } from "../names/names.ts";
import { asObject, withRule } from "../values/check.ts";
import { boundedDuration } from "../values/duration.ts";
import { FreeObject, wholeNumber, writeOnly } from "../values/fields.ts";
import { headerMap, url } from "../values/http-parts.ts";
import { atMostOneOf, oneOf } from "../values/one-of.ts";

function flag(type: string, unset: string) {
  return z.boolean().optional().describe(`Sends \`${type}\`. Unset: ${unset}.`);
}

/** Which data messages are sent. An absent flag has the medium's default. */
export const EnabledDataMessages = z.strictObject({
  pong: flag("pong", "on"),
  state: flag("state", "on"),
  transcript: flag("transcript", "on"),
  clientToolInvocation: flag("client_tool_invocation", "on"),
  dataConnectionToolInvocation: flag("data_connection_tool_invocation", "off"),
  playbackClearBuffer: flag("playback_clear_buffer", "on for serverWebSocket, off for webRtc"),
  callStarted: flag("call_started", "on"),
  debug: flag("debug", "off"),
  callEvent: flag("call_event", "off"),
  toolUsed: flag("tool_used", "off"),
  invokingTool: flag("invoking_tool", "off"),
  userStartedSpeaking: flag("user_started_speaking", "off"),
  userStoppedSpeaking: flag("user_stopped_speaking", "off"),
});
export type EnabledDataMessages = z.output<typeof EnabledDataMessages>;

/** One for each data message that can be switched on or off. */
export type DataMessageFlag = keyof EnabledDataMessages;
export const DATA_MESSAGE_FLAGS: readonly DataMessageFlag[] = EnabledDataMessages.keyof().options;

/** How keys pressed by the caller are handled. */
export const DtmfHandling = atMostOneOf({
  ignore: z.boolean(),
  userTextMessage: z.strictObject({
    text: z
      .string()
      // Braces around anything else are a misspelled placeholder.
      .refine((value) => !/[{}]/.test(value.replaceAll("{digits}", "")), {
        error: "must have no other placeholder than {digits}",
      })
      .meta({ default: "{digits}" })
      .optional(),
    urgency: z
      .enum(["URGENCY_IMMEDIATE", "URGENCY_SOON", "URGENCY_LATER"])
      .meta({ default: "URGENCY_IMMEDIATE" })
      .optional(),
  }),
});
export type DtmfHandling = z.output<typeof DtmfHandling>;

/**
 * Parameters of each carrier's call request that only the service sets (destination, stream or answer address,
 * credentials). Other instructions, also those for an error, could dial past the rules of the account. Case and
 * underscores are ignored in the comparison.
 */
const RESERVED_PARAMETERS = {
  telephony1: ["to", "from", "url", "fallbackurl", "twiml", "applicationsid", "accountsid", "authtoken"],
  telephony2: [
    ...(["to", "from", "url", "fallbackurl", "texml", "applicationsid", "connectionid"] as const),
    ...(["streamurl", "accountsid", "apikey"] as const),
  ],
  telephony3: ["to", "from", "answerurl", "answermethod", "fallbackurl", "authid", "authtoken"],
} as const;

const PhoneNumber = z.string().min(1).max(256);

function telephony(reserved: readonly string[]) {
  const additionalParams = withRule(FreeObject, (value, report) => {
    for (const key of Object.keys(asObject(value) ?? {})) {
      if (reserved.includes(key.toLowerCase().replaceAll("_", ""))) {
        report([key], "is set by the service and cannot be given here");
      }
    }
  });
  return z.strictObject({
    outgoing: z
      .strictObject({
        to: PhoneNumber,
        from: PhoneNumber,
        additionalParams: additionalParams.optional(),
      })
      .optional()
      .describe(
        "Set: the service places the call. Unset: put the join URL into the carrier's stream directive.",
      ),
    dtmfHandling: DtmfHandling.optional(),
  });
}

export const MIN_AUDIO_RATE_HZ = 8000;
export const MAX_AUDIO_RATE_HZ = 48_000;
export const DEFAULT_CLIENT_BUFFER_MS = 60;
/** Two minutes of audio buffered by the client. */
const MAX_CLIENT_BUFFER_MS = 120_000;

const AudioRate = wholeNumber(MIN_AUDIO_RATE_HZ, MAX_AUDIO_RATE_HZ);

/** At most one key; none means WebRTC. */
export const CallMedium = atMostOneOf({
  webRtc: z.strictObject({ dataMessages: EnabledDataMessages.optional() }),
  telephony1: telephony(RESERVED_PARAMETERS.telephony1),
  serverWebSocket: z.strictObject({
    inputSampleRate: AudioRate.describe("Sample rate of the audio from the client, in Hz."),
    outputSampleRate: AudioRate.optional().describe(
      "Sample rate of the audio to the client, in Hz. Default: the input rate.",
    ),
    clientBufferSizeMs: wholeNumber(0, MAX_CLIENT_BUFFER_MS)
      .meta({ default: DEFAULT_CLIENT_BUFFER_MS })
      .optional()
      .describe("How far ahead of real time audio is sent, in ms. Values below 20 count as 20."),
    mediaIdleTimeout: boundedDuration({})
      .optional()
      .describe(
        "Ends the call when no audio arrives for this time. Values below 10s count as 10s. Unset: off.",
      ),
    dataMessages: EnabledDataMessages.optional(),
  }),
  telephony2: telephony(RESERVED_PARAMETERS.telephony2),
  telephony3: telephony(RESERVED_PARAMETERS.telephony3),
  telephony4: z.strictObject({ dtmfHandling: DtmfHandling.optional() }),
  sip: oneOf({
    incoming: z.strictObject({}),
    outgoing: z.strictObject({
      to: PhoneNumber,
      from: PhoneNumber,
      username: z.string().max(256).optional(),
      password: writeOnly(z.string().max(256)).optional(),
    }),
  }),
});
export type CallMedium = z.output<typeof CallMedium>;

export const MEDIUM_KINDS = [
  "webRtc",
  "telephony1",
  "serverWebSocket",
  "telephony2",
  "telephony3",
  "telephony4",
  "sip",
] as const;
export type MediumKind = (typeof MEDIUM_KINDS)[number];

/** The medium that is set, WebRTC by default. */
export function mediumKindOf(medium: CallMedium | undefined): MediumKind {
  return MEDIUM_KINDS.find((kind) => medium?.[kind] !== undefined) ?? "webRtc";
}

/** The outgoing call that the service places. Null: none, a client has to connect to the join URL. */
export function dialledBy(
  medium: CallMedium | undefined,
): { readonly to: string; readonly from: string } | null {
  const requested = [medium?.telephony1, medium?.telephony2, medium?.telephony3, medium?.sip];
  return requested.find((one) => one?.outgoing !== undefined)?.outgoing ?? null;
}

/** Headers that carry the signature of a data connection. */
const SIGNATURE_HEADERS = ["call-id", "signature-timestamp", "signature"].flatMap((name) =>
  HEADER_PREFIXES.map((prefix) => `${prefix.toLowerCase()}${name}`),
);

export const DEFAULT_DATA_CONNECTION_RATE_HZ = 16_000;

/** A websocket that the service opens for data messages and, if requested, the call's audio. */
export const DataConnectionConfig = z.strictObject({
  websocketUrl: url(["ws", "wss"]),
  audioConfig: z
    .strictObject({
      sampleRate: AudioRate.meta({ default: DEFAULT_DATA_CONNECTION_RATE_HZ }).optional(),
      channelMode: z
        .enum(["CHANNEL_MODE_MIXED", "CHANNEL_MODE_SEPARATED"])
        .meta({ default: "CHANNEL_MODE_SEPARATED" })
        .optional(),
    })
    .optional()
    .describe("Unset: no audio."),
  dataMessages: EnabledDataMessages.optional(),
  headers: headerMap(SIGNATURE_HEADERS).optional().describe("Sent with the upgrade request."),
});
export type DataConnectionConfig = z.output<typeof DataConnectionConfig>;
