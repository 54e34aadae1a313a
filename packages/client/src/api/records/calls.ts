/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type {
  Cost,
  EngineUse,
} from "./engine-use.ts";
import type {
  CallMedium,
  Callbacks,
  FirstSpeakerSettings,
  VadSettings,
} from "./media.ts";
import type {
  DataConnectionConfig,
  TimedMessage,
} from "./requests.ts";
import type {
  ExternalVoice,
  VoiceOverrides,
} from "./voices.ts";

export interface AgentBasic {
  /** A UUID. */
  agentId: string;
  name: string;
}

/** A call. Every field is present; null means no value. */
export interface Call {
  /** A UUID. */
  callId: string;
  /** Null for a call without an agent. */
  agent: AgentBasic | null;
  /** A UUID. */
  agentId: string | null;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  joined: string | null;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  ended: string | null;
  /** Null until the call ends. */
  endReason: "unjoined" | "hangup" | "agent_hangup" | "timeout" | "connection_error" | "system_error" | null;
  /** Whether an engine failed, or an event has the severity `error`; the events say what happened. */
  hasErrors: boolean;
  /**
   * The beginning of what the caller said first, or of what the agent said if the caller said nothing. Null
   * until some seconds after the end, for calls without a transcript, and in most webhooks.
   */
  firstWords: string | null;
  /**
   * Whom the call is with: the number that the service dials, or what the carrier's request or the metadata
   * names under a key such as `caller`, `from`, `phone`, `customer`, `user` or `email`. Null if nothing does.
   */
  caller: string | null;
  /**
   * The median time from the end of the caller's speech to the agent's reply; negative if the reply began
   * before. Null like `firstWords`, and for calls without a spoken reply. A duration in seconds, such as
   * `30s`.
   */
  medianReplyWait: string | null;
  /**
   * What the call has used of each engine. Null until it ends, for calls that asked no engine for anything,
   * and for those whose process was lost.
   */
  engineUse: EngineUse[] | null;
  /**
   * The cost of `engineUse`. Null like it, and if the operator had no table of prices at the end of the call.
   */
  cost: Cost | null;
  /**
   * Where the client connects, without an API key. Null when the service dials, and for API keys that need
   * the scope `calls` to see it.
   */
  joinUrl: string | null;
  /** What the client sent as its version when it joined. */
  clientVersion: string | null;
  /** A duration in seconds, such as `30s`. */
  billedDuration: string | null;
  /** Of all generations of side threads. Null: the call had none. At least 0. */
  billedSideInputTokens: number | null;
  /** Of all generations of side threads. Null: the call had none. At least 0. */
  billedSideOutputTokens: number | null;
  billingStatus:
    | "BILLING_STATUS_UNSPECIFIED"
    | "BILLING_STATUS_PENDING"
    | "BILLING_STATUS_FREE_CONSOLE"
    | "BILLING_STATUS_FREE_ZERO_EFFECTIVE_DURATION"
    | "BILLING_STATUS_FREE_MINUTES"
    | "BILLING_STATUS_FREE_SYSTEM_ERROR"
    | "BILLING_STATUS_FREE_OTHER"
    | "BILLING_STATUS_BILLED"
    | "BILLING_STATUS_REFUNDED";
  firstSpeaker: "FIRST_SPEAKER_AGENT" | "FIRST_SPEAKER_USER";
  firstSpeakerSettings: FirstSpeakerSettings;
  initialOutputMedium: "MESSAGE_MEDIUM_VOICE" | "MESSAGE_MEDIUM_TEXT";
  /**
   * From creation. A call that is not joined by then ends with `unjoined`. A duration in seconds, such as
   * `30s`. From 1s to 3600s. Default: `"30s"`.
   */
  joinTimeout: string;
  /**
   * From the join. The call then ends with `timeout`, after `timeExceededMessage` if it is set. A duration in
   * seconds, such as `30s`. From 1s to 86400s. Default: `"3600s"`.
   */
  maxDuration: string;
  medium: CallMedium;
  /** The name of a model from the list of models. At most 128 characters. Default: `"default"`. */
  model: string;
  /** With template variables filled in, like the other texts. */
  systemPrompt: string | null;
  timeExceededMessage: string | null;
  voice: string | null;
  /** Language of the conversation as a BCP 47 tag, such as `en` or `de-CH`. At most 16 characters. */
  languageHint: string | null;
  /** Randomness of the model's output. From 0 to 1. Default: `0`. */
  temperature: number;
  externalVoice: ExternalVoice | null;
  voiceOverrides: VoiceOverrides | null;
  /** At most 100 entries. */
  inactivityMessages: TimedMessage[];
  vadSettings: VadSettings | null;
  recordingEnabled: boolean;
  /**
   * What the holder of the join URL may send. `trusted`: all data messages. `standard`: not `threadId` other
   * than `UI` in `user_text_message`, `new-stage` in `client_tool_result`, `send-to-thread` in
   * `client_tool_result`, `data_connection_tool_result`, `toolCalls` in `forced_agent_message`, `threadId`
   * other than `UI` in `forced_agent_message`, `spawn_thread`. `media`, for web pages: not `threadId` other
   * than `UI` in `user_text_message`, `message` in `hang_up`, `updateCallState` in `client_tool_result`,
   * `message` of a `hang-up` in `client_tool_result`, `new-stage` in `client_tool_result`, `send-to-thread`
   * in `client_tool_result`, `data_connection_tool_result`, `forced_agent_message`, `toolCalls` in
   * `forced_agent_message`, `threadId` other than `UI` in `forced_agent_message`, `spawn_thread`. The data
   * connection and REST are not limited, except that below `trusted` a stage that begins over the data
   * connection has only tools that the call already had. Default: `"trusted"`.
   */
  clientMessages: "trusted" | "standard" | "media";
  retentionPolicy: "retain" | "auto_delete" | null;
  /** @deprecated */
  transcriptOptional: boolean;
  shortSummary: string | null;
  summary: string | null;
  experimentalSettings: Record<string, unknown> | null;
  /** At most 64 KiB. */
  metadata: Record<string, string>;
  initialState: Record<string, unknown>;
  /** Fields of the carrier's or the SIP request. */
  requestContext: Record<string, unknown> | null;
  dataConnectionConfig: DataConnectionConfig | null;
  callbacks: Callbacks | null;
  sipDetails: {
    /** A duration in seconds, such as `30s`. */
    billedDuration: string | null;
    terminationReason:
      | "SIP_TERMINATION_NORMAL"
      | "SIP_TERMINATION_INVALID_NUMBER"
      | "SIP_TERMINATION_TIMEOUT"
      | "SIP_TERMINATION_DESTINATION_UNAVAILABLE"
      | "SIP_TERMINATION_BUSY"
      | "SIP_TERMINATION_CANCELED"
      | "SIP_TERMINATION_REJECTED"
      | "SIP_TERMINATION_UNKNOWN"
      | null;
  } | null;
}

/** A notable event of a call, such as a join or a failed voice. */
export interface CallEvent {
  /** A UUID. */
  callId: string;
  /** A UUID. */
  callStageId: string;
  /** Media played or received since the join. A duration in seconds, such as `30s`. */
  callTimestamp: string;
  /** Real time since the join; null before it. A duration in seconds, such as `30s`. */
  wallClockTimestamp: string | null;
  severity: "debug" | "info" | "warning" | "error";
  /** Dotted, such as `call.joined`. At most 50 characters. */
  type: string;
  text: string;
  extras: Record<string, unknown> | null;
}

export interface CallEventPage {
  results: CallEvent[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

export interface CallPage {
  results: Call[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

/** A tool that was available in a stage. For authentication, only names are shown. */
export interface CallTool {
  /** A UUID. */
  callToolId: string;
  /** Null for a tool that the call defined itself. A UUID. */
  toolId: string | null;
  name: string;
  definition: {
    description?: string | undefined;
    dynamicParameters?: Array<{
      name: string;
      location?:
        | "PARAMETER_LOCATION_QUERY"
        | "PARAMETER_LOCATION_PATH"
        | "PARAMETER_LOCATION_HEADER"
        | "PARAMETER_LOCATION_BODY"
        | undefined;
      schema?: Record<string, unknown> | undefined;
      required?: boolean | undefined;
    }> | undefined;
    staticParameters?: Array<{
      name: string;
      location?:
        | "PARAMETER_LOCATION_QUERY"
        | "PARAMETER_LOCATION_PATH"
        | "PARAMETER_LOCATION_HEADER"
        | "PARAMETER_LOCATION_BODY"
        | undefined;
      value?: unknown;
    }> | undefined;
    automaticParameters?: Array<{
      name: string;
      location?:
        | "PARAMETER_LOCATION_QUERY"
        | "PARAMETER_LOCATION_PATH"
        | "PARAMETER_LOCATION_HEADER"
        | "PARAMETER_LOCATION_BODY"
        | undefined;
      knownValue:
        | "KNOWN_PARAM_CALL_ID"
        | "KNOWN_PARAM_CONVERSATION_HISTORY"
        | "KNOWN_PARAM_OUTPUT_SAMPLE_RATE"
        | "KNOWN_PARAM_CALL_STATE"
        | "KNOWN_PARAM_CALL_STAGE_ID"
        | "KNOWN_PARAM_THREAD_ID"
        | "KNOWN_PARAM_THREAD_STATES"
        | "KNOWN_PARAM_CALL_METADATA";
    }> | undefined;
    /** A duration in seconds, such as `30s`. */
    timeout?: string | undefined;
    precomputable?: boolean | undefined;
    http?: {
      baseUrlPattern: string;
      httpMethod?: string | undefined;
      authHeaders?: string[] | undefined;
      authQueryParams?: string[] | undefined;
      callTokenScopes?: string[] | undefined;
    } | undefined;
    client?: Record<string, never> | undefined;
    dataConnection?: Record<string, never> | undefined;
    defaultReaction?: "AGENT_REACTION_SPEAKS" | "AGENT_REACTION_LISTENS" | "AGENT_REACTION_SPEAKS_ONCE" | undefined;
    staticResponse?: {
      responseText?: string | undefined;
    } | undefined;
  };
}

/** What remains of a deleted call: its times and figures, never its content. */
export interface DeletedCall {
  /** A UUID. */
  callId: string;
  /** A UUID. */
  accountId: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  deletionTime: string;
  endReason: "unjoined" | "hangup" | "agent_hangup" | "timeout" | "connection_error" | "system_error" | null;
  recordingEnabled: boolean;
  hadSummary: boolean;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  joined: string | null;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  ended: string | null;
  /**
   * From the join. The call then ends with `timeout`, after `timeExceededMessage` if it is set. A duration in
   * seconds, such as `30s`. From 1s to 86400s. Default: `"3600s"`.
   */
  maxDuration: string;
}

export interface DeletedCallPage {
  results: DeletedCall[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

/** A message of a call. Fields without a value are absent. */
export interface Message {
  role: "MESSAGE_ROLE_USER" | "MESSAGE_ROLE_AGENT" | "MESSAGE_ROLE_TOOL_CALL" | "MESSAGE_ROLE_TOOL_RESULT";
  /** A tool call and its result have the same id. */
  invocationId?: string | undefined;
  toolName?: string | undefined;
  /** Not shown to the model. */
  errorDetails?: string | undefined;
  medium?: "MESSAGE_MEDIUM_VOICE" | "MESSAGE_MEDIUM_TEXT" | undefined;
  callState?: Record<string, unknown> | undefined;
  metadata?: Record<string, unknown> | undefined;
  text: string;
  /** At least 0. */
  callStageMessageIndex: number;
  /** A UUID. */
  callStageId: string;
  timespan?: Timespan | undefined;
  wallClockTimespan?: Timespan | undefined;
}

export interface MessagePage {
  results: Message[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

export interface Timespan {
  /** A duration in seconds, such as `30s`. */
  start: string;
  /** A duration in seconds, such as `30s`. */
  end: string;
}

export interface SipMessage {
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  timestamp: string;
  /** As seen by the service. */
  direction: "sent" | "received";
  transport: "udp" | "tcp" | "tls";
  /** Address and port, such as `203.0.113.5:5060`. */
  source: string;
  destination: string;
  /** Such as `INVITE sip:+4930123456@trunk.example SIP/2.0`. */
  firstLine: string;
  /**
   * The message, at most 8,000 characters. Passwords, answers to challenges, and keys of media are replaced
   * by `***`.
   */
  text: string;
}

export interface SipMessagePage {
  results: SipMessage[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}
