/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { AtMostOne, ExactlyOne } from "../../choices.ts";

/** Addresses that receive a request when the call is joined, ended or billed. */
export interface Callbacks {
  joined?: {
    /** Receives a POST. A URL. At most 2048 characters. */
    url: string;
    /** Each signs the request; use several to rotate. At most 10 entries. */
    secrets?: string[] | undefined;
  } | undefined;
  ended?: {
    /** Receives a POST. A URL. At most 2048 characters. */
    url: string;
    /** Each signs the request; use several to rotate. At most 10 entries. */
    secrets?: string[] | undefined;
  } | undefined;
  billed?: {
    /** Receives a POST. A URL. At most 2048 characters. */
    url: string;
    /** Each signs the request; use several to rotate. At most 10 entries. */
    secrets?: string[] | undefined;
  } | undefined;
}

/** How a call is connected. At most one key; none means WebRTC. */
export type CallMedium = AtMostOne<{
  webRtc: {
    dataMessages?: EnabledDataMessages | undefined;
  };
  telephony1: {
    /** Set: the service places the call. Unset: put the join URL into the carrier's stream directive. */
    outgoing?: {
      /** At most 256 characters. */
      to: string;
      /** At most 256 characters. */
      from: string;
      additionalParams?: Record<string, unknown> | undefined;
    } | undefined;
    dtmfHandling?: DtmfHandling | undefined;
  };
  serverWebSocket: {
    /** Sample rate of the audio from the client, in Hz. From 8000 to 48000. */
    inputSampleRate: number;
    /** Sample rate of the audio to the client, in Hz. Default: the input rate. From 8000 to 48000. */
    outputSampleRate?: number | undefined;
    /**
     * How far ahead of real time audio is sent, in ms. Values below 20 count as 20. From 0 to 120000.
     * Default: `60`.
     */
    clientBufferSizeMs?: number | undefined;
    /**
     * Ends the call when no audio arrives for this time. Values below 10s count as 10s. Unset: off. A
     * duration in seconds, such as `30s`.
     */
    mediaIdleTimeout?: string | undefined;
    dataMessages?: EnabledDataMessages | undefined;
  };
  telephony2: {
    /** Set: the service places the call. Unset: put the join URL into the carrier's stream directive. */
    outgoing?: {
      /** At most 256 characters. */
      to: string;
      /** At most 256 characters. */
      from: string;
      additionalParams?: Record<string, unknown> | undefined;
    } | undefined;
    dtmfHandling?: DtmfHandling | undefined;
  };
  telephony3: {
    /** Set: the service places the call. Unset: put the join URL into the carrier's stream directive. */
    outgoing?: {
      /** At most 256 characters. */
      to: string;
      /** At most 256 characters. */
      from: string;
      additionalParams?: Record<string, unknown> | undefined;
    } | undefined;
    dtmfHandling?: DtmfHandling | undefined;
  };
  telephony4: {
    dtmfHandling?: DtmfHandling | undefined;
  };
  sip: ExactlyOne<{
    incoming: Record<string, never>;
    outgoing: {
      /** At most 256 characters. */
      to: string;
      /** At most 256 characters. */
      from: string;
      /** At most 256 characters. */
      username?: string | undefined;
      /** At most 256 characters. Never returned. */
      password?: string | undefined;
    };
  }>;
}>;

/** How keys pressed by the caller are handled. */
export type DtmfHandling = AtMostOne<{
  ignore: boolean;
  userTextMessage: {
    /** Default: `"{digits}"`. */
    text?: string | undefined;
    /** Default: `"URGENCY_IMMEDIATE"`. */
    urgency?: "URGENCY_IMMEDIATE" | "URGENCY_SOON" | "URGENCY_LATER" | undefined;
  };
}>;

/** Which data messages are sent. An absent flag has the medium's default. */
export interface EnabledDataMessages {
  /** Sends `pong`. Unset: on. */
  pong?: boolean | undefined;
  /** Sends `state`. Unset: on. */
  state?: boolean | undefined;
  /** Sends `transcript`. Unset: on. */
  transcript?: boolean | undefined;
  /** Sends `client_tool_invocation`. Unset: on. */
  clientToolInvocation?: boolean | undefined;
  /** Sends `data_connection_tool_invocation`. Unset: off. */
  dataConnectionToolInvocation?: boolean | undefined;
  /** Sends `playback_clear_buffer`. Unset: on for serverWebSocket, off for webRtc. */
  playbackClearBuffer?: boolean | undefined;
  /** Sends `call_started`. Unset: on. */
  callStarted?: boolean | undefined;
  /** Sends `debug`. Unset: off. */
  debug?: boolean | undefined;
  /** Sends `call_event`. Unset: off. */
  callEvent?: boolean | undefined;
  /** Sends `tool_used`. Unset: off. */
  toolUsed?: boolean | undefined;
  /** Sends `invoking_tool`. Unset: off. */
  invokingTool?: boolean | undefined;
  /** Sends `user_started_speaking`. Unset: off. */
  userStartedSpeaking?: boolean | undefined;
  /** Sends `user_stopped_speaking`. Unset: off. */
  userStoppedSpeaking?: boolean | undefined;
}

/** Who speaks first. Exactly one of `user` and `agent`. */
export type FirstSpeakerSettings = ExactlyOne<{
  user: {
    /** The agent speaks first if the user does not speak within `delay` of the join. */
    fallback?: {
      /** A duration in seconds, such as `30s`. Default: `"5s"`. */
      delay?: string | undefined;
      /** Said word for word. */
      text?: string | undefined;
      /** Instructions for the model's opening. */
      prompt?: string | undefined;
    } | undefined;
  };
  agent: {
    /** The user cannot interrupt the opening. Default: `false`. */
    uninterruptible?: boolean | undefined;
    /** Said word for word. */
    text?: string | undefined;
    /** Instructions for the model's opening. */
    prompt?: string | undefined;
    /** From the join to the opening. A duration in seconds, such as `30s`. Default: `"0s"`. */
    delay?: string | undefined;
  };
}>;

/** When speech counts as a turn, and when a turn is over. */
export interface VadSettings {
  /**
   * Silence before the agent answers. Speech is detected in windows of 32 ms, so only multiples of 32 ms
   * matter. A duration in seconds, such as `30s`. At most 10s. Default: `"0.384s"`.
   */
  turnEndpointDelay?: string | undefined;
  /** Shorter speech is not a turn. A duration in seconds, such as `30s`. At most 10s. Default: `"0s"`. */
  minimumTurnDuration?: string | undefined;
  /**
   * Shorter speech does not interrupt the agent. The larger of this and `minimumTurnDuration` applies. A
   * duration in seconds, such as `30s`. At most 10s. Default: `"0.09s"`.
   */
  minimumInterruptionDuration?: string | undefined;
  /**
   * Probability from which a window counts as speech. Higher values ignore more quiet speech and noise. From
   * 0.1 to 1. Default: `0.1`.
   */
  frameActivationThreshold?: number | undefined;
}
