/** The settings of a call, and the request made from them. */

import type { SocketRates } from "@parley/client";
import type { InputOf } from "@parley/client/rest";

/** The two media that a page can join by. */
export const MEDIA = ["webRtc", "serverWebSocket"] as const;
export type Medium = (typeof MEDIA)[number];

export interface TalkPlan {
  readonly agentId: string;
  readonly medium: Medium;
  /** Id of a device, or one of the two values below. */
  readonly microphone: string;
  readonly context: Readonly<Record<string, unknown>>;
  /** Gives the agent the tool of this page. */
  readonly withNotes: boolean;
}

export const SYSTEM_MICROPHONE = "";
export const NO_MICROPHONE = "none";

/** The sample rate of recognisers, with more bandwidth than most voices need. */
export const SOCKET_RATES: SocketRates = { inputSampleRateHz: 16_000, outputSampleRateHz: 24_000 };

/** Everything that the page shows. */
const DATA_MESSAGES = {
  callEvent: true,
  toolUsed: true,
  invokingTool: true,
  userStartedSpeaking: true,
  userStoppedSpeaking: true,
  playbackClearBuffer: true,
};

export const NOTE_TOOL = "showNote";

const NOTE_TOOL_DEFINITION = {
  modelToolName: NOTE_TOOL,
  description: "Shows a short note on the user's screen, such as an address, a number or a confirmation.",
  dynamicParameters: [
    {
      name: "text",
      location: "PARAMETER_LOCATION_BODY" as const,
      schema: { type: "string", description: "What the note says." },
      required: true,
    },
  ],
  client: {},
};

type CallBody = NonNullable<InputOf<"POST", "/api/agents/{agent_id}/calls">["body"]>;

export function bodyOf({ medium, context, withNotes }: TalkPlan): CallBody {
  const { inputSampleRateHz, outputSampleRateHz } = SOCKET_RATES;
  return {
    medium:
      medium === "webRtc"
        ? { webRtc: { dataMessages: DATA_MESSAGES } }
        : {
            serverWebSocket: {
              inputSampleRate: inputSampleRateHz,
              outputSampleRate: outputSampleRateHz,
              dataMessages: DATA_MESSAGES,
            },
          },
    ...(Object.keys(context).length === 0 ? {} : { templateContext: { ...context } }),
    ...(withNotes ? { toolOverrides: { add: [{ temporaryTool: NOTE_TOOL_DEFINITION }] } } : {}),
    // This page talks, types, hangs up and has a client tool; like a page for strangers, it needs nothing else.
    clientMessages: "media",
    metadata: { madeBy: "console" },
  };
}
