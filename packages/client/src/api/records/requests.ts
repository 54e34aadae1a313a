/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type {
  BaseToolDefinition,
} from "./definitions.ts";
import type {
  CallMedium,
  Callbacks,
  EnabledDataMessages,
  FirstSpeakerSettings,
  VadSettings,
} from "./media.ts";
import type {
  ExternalVoice,
  VoiceOverrides,
} from "./voices.ts";
import type { ExactlyOne } from "../../choices.ts";

/** A websocket that the service opens for data messages and, if requested, the call's audio. */
export interface DataConnectionConfig {
  /** A URL. At most 2048 characters. */
  websocketUrl: string;
  /** Unset: no audio. */
  audioConfig?: {
    /** From 8000 to 48000. Default: `16000`. */
    sampleRate?: number | undefined;
    /** Default: `"CHANNEL_MODE_SEPARATED"`. */
    channelMode?: "CHANNEL_MODE_MIXED" | "CHANNEL_MODE_SEPARATED" | undefined;
  } | undefined;
  dataMessages?: EnabledDataMessages | undefined;
  /** Sent with the upgrade request. */
  headers?: Record<string, string> | undefined;
}

/** A message of the history that a call starts with. */
export interface InitialMessage {
  role: "MESSAGE_ROLE_USER" | "MESSAGE_ROLE_AGENT" | "MESSAGE_ROLE_TOOL_CALL" | "MESSAGE_ROLE_TOOL_RESULT";
  /** A tool call and its result have the same id. */
  invocationId?: string | undefined;
  toolName?: string | undefined;
  /** Not shown to the model. */
  errorDetails?: string | undefined;
  medium?: "MESSAGE_MEDIUM_VOICE" | "MESSAGE_MEDIUM_TEXT" | undefined;
  callState?: Record<string, unknown> | undefined;
  metadata?: Record<string, unknown> | undefined;
  text?: string | undefined;
}

/** A tool of a call: an existing one by id or name, or one defined in place. */
export type SelectedTool = ExactlyOne<{
  /** A UUID. */
  toolId: string;
  toolName: string;
  temporaryTool: BaseToolDefinition;
}> & {
  nameOverride?: string | undefined;
  /** In an agent, texts in here are template strings, filled at call creation. At most 16384 characters. */
  descriptionOverride?: string | undefined;
  /** In an agent, texts in here are template strings, filled at call creation. Never returned. */
  authTokens?: Record<string, string> | undefined;
  /** Fixed values for parameters of any kind. The model does not see these parameters. */
  parameterOverrides?: Record<string, unknown> | undefined;
  /** Stored and returned unchanged. */
  transitionId?: string | undefined;
};

/** The data messages that may also be sent by REST. */
export type SendCallDataMessage =
  | {
    type: "forced_agent_message";
    /** Default: `""`. */
    content?: string | undefined;
    /** At most 16 entries. */
    toolCalls?: Array<{
      id?: string | undefined;
      name?: string | undefined;
      toolName?: string | undefined;
      arguments?: Record<string, unknown> | undefined;
      parameters?: Record<string, unknown> | undefined;
    }> | undefined;
    /** At most 16 entries. */
    knownToolResults?: Array<{
      invocationId: string;
      result?: unknown;
    }> | undefined;
    /** Default: `false`. */
    uninterruptible?: boolean | undefined;
    /** Default: `"soon"`. */
    urgency?: "immediate" | "soon" | undefined;
    /** The thread that receives the message; `UI` is the thread with audio. Default: `"UI"`. */
    threadId?: string | undefined;
  }
  | {
    type: "hang_up";
    /** Said in full before the call ends. Empty: nothing is said. Default: `""`. */
    message?: string | undefined;
  }
  | {
    type: "user_text_message";
    /** Empty text adds nothing to the history, but can still interrupt or request a reply. */
    text: string;
    /**
     * `immediate` interrupts the agent and requests a reply, `soon` requests a reply after the agent has
     * finished, `later` only adds to the history. Default: `"soon"`.
     */
    urgency?: "immediate" | "soon" | "later" | undefined;
    /** True: no reply. False: a reply. Set, it overrides what `urgency` says about replies. */
    deferResponse?: boolean | undefined;
    /** The thread that receives the message; `UI` is the thread with audio. Default: `"UI"`. */
    threadId?: string | undefined;
  };

/** A call of an agent. Fields given here override the agent's template. */
export interface StartAgentCallRequest {
  /** Must equal the agent of the path. A UUID. */
  agentId?: string | undefined;
  /** Fills the template strings. */
  templateContext?: Record<string, unknown> | undefined;
  toolOverrides?: ToolOverrides | undefined;
  /** Messages that the history starts with. At most 1000 entries. */
  initialMessages?: InitialMessage[] | undefined;
  /** At most 64 KiB. */
  metadata?: Record<string, string> | undefined;
  medium?: CallMedium | undefined;
  /**
   * From creation. A call that is not joined by then ends with `unjoined`. A duration in seconds, such as
   * `30s`. From 1s to 3600s. Default: `"30s"`.
   */
  joinTimeout?: string | undefined;
  /**
   * From the join. The call then ends with `timeout`, after `timeExceededMessage` if it is set. A duration in
   * seconds, such as `30s`. From 1s to 86400s. Default: `"3600s"`.
   */
  maxDuration?: string | undefined;
  /** Records both sides of the call. Default: `false`. */
  recordingEnabled?: boolean | undefined;
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
  clientMessages?: "trusted" | "standard" | "media" | undefined;
  /** Whether the agent starts by speaking or by writing. Default: `"MESSAGE_MEDIUM_VOICE"`. */
  initialOutputMedium?: "MESSAGE_MEDIUM_VOICE" | "MESSAGE_MEDIUM_TEXT" | undefined;
  firstSpeakerSettings?: FirstSpeakerSettings | undefined;
  dataConnection?: DataConnectionConfig | undefined;
  /**
   * Free-form; stored with the call. `transcriptionProvider` names its recogniser, and `transcriptHints`
   * lists words that the recogniser should expect.
   */
  experimentalSettings?: Record<string, unknown> | undefined;
  callbacks?: Callbacks | undefined;
  retentionPolicy?:
    | "retain"
    | "auto_delete"
    | "CALL_RETENTION_POLICY_RETAIN"
    | "CALL_RETENTION_POLICY_AUTO_DELETE"
    | undefined;
  /** Each signs the data connection; use several to rotate. At most 10 entries. Never returned. */
  sharedSecrets?: string[] | undefined;
  /** Call state that tools read and change. */
  initialState?: Record<string, unknown> | undefined;
  /** Name or id of a voice. Unset: the voice engine's default. At most 128 characters. */
  voice?: string | undefined;
  voiceOverrides?: VoiceOverrides | undefined;
}

/** A call without an agent. Texts are not templates. */
export interface StartCallRequest {
  /** Instructions for the model. */
  systemPrompt?: string | undefined;
  /** Randomness of the model's output. From 0 to 1. Default: `0`. */
  temperature?: number | undefined;
  /** The name of a model from the list of models. At most 128 characters. Default: `"default"`. */
  model?: string | undefined;
  externalVoice?: ExternalVoice | undefined;
  /** Language of the conversation as a BCP 47 tag, such as `en` or `de-CH`. At most 16 characters. */
  languageHint?: string | undefined;
  /** What the agent says when `maxDuration` is over. */
  timeExceededMessage?: string | undefined;
  /** What the agent says to a silent user, one after the other. At most 100 entries. */
  inactivityMessages?: TimedMessage[] | undefined;
  /** Tools that the model can call. At most 128 entries. */
  selectedTools?: SelectedTool[] | undefined;
  /** Older form of `firstSpeakerSettings`. */
  firstSpeaker?: "FIRST_SPEAKER_AGENT" | "FIRST_SPEAKER_USER" | undefined;
  /**
   * Has no effect.
   * @deprecated
   */
  transcriptOptional?: boolean | undefined;
  vadSettings?: VadSettings | undefined;
  /** Messages that the history starts with. At most 1000 entries. */
  initialMessages?: InitialMessage[] | undefined;
  /** At most 64 KiB. */
  metadata?: Record<string, string> | undefined;
  medium?: CallMedium | undefined;
  /**
   * From creation. A call that is not joined by then ends with `unjoined`. A duration in seconds, such as
   * `30s`. From 1s to 3600s. Default: `"30s"`.
   */
  joinTimeout?: string | undefined;
  /**
   * From the join. The call then ends with `timeout`, after `timeExceededMessage` if it is set. A duration in
   * seconds, such as `30s`. From 1s to 86400s. Default: `"3600s"`.
   */
  maxDuration?: string | undefined;
  /** Records both sides of the call. Default: `false`. */
  recordingEnabled?: boolean | undefined;
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
  clientMessages?: "trusted" | "standard" | "media" | undefined;
  /** Whether the agent starts by speaking or by writing. Default: `"MESSAGE_MEDIUM_VOICE"`. */
  initialOutputMedium?: "MESSAGE_MEDIUM_VOICE" | "MESSAGE_MEDIUM_TEXT" | undefined;
  firstSpeakerSettings?: FirstSpeakerSettings | undefined;
  dataConnection?: DataConnectionConfig | undefined;
  /**
   * Free-form; stored with the call. `transcriptionProvider` names its recogniser, and `transcriptHints`
   * lists words that the recogniser should expect.
   */
  experimentalSettings?: Record<string, unknown> | undefined;
  callbacks?: Callbacks | undefined;
  retentionPolicy?:
    | "retain"
    | "auto_delete"
    | "CALL_RETENTION_POLICY_RETAIN"
    | "CALL_RETENTION_POLICY_AUTO_DELETE"
    | undefined;
  /** Each signs the data connection; use several to rotate. At most 10 entries. Never returned. */
  sharedSecrets?: string[] | undefined;
  /** Call state that tools read and change. */
  initialState?: Record<string, unknown> | undefined;
  /** Name or id of a voice. Unset: the voice engine's default. At most 128 characters. */
  voice?: string | undefined;
  voiceOverrides?: VoiceOverrides | undefined;
}

/** What the agent says when the user was silent for `duration` after the previous message. */
export interface TimedMessage {
  /** A duration in seconds, such as `30s`. */
  duration: string;
  /** In an agent, texts in here are template strings, filled at call creation. */
  message: string;
  /**
   * After the message: SOFT ends the call unless the caller acts, STRICT ends it. Unset: the call goes on.
   */
  endBehavior?: "END_BEHAVIOR_HANG_UP_SOFT" | "END_BEHAVIOR_HANG_UP_STRICT" | undefined;
}

export interface ToolOverrides {
  removeAll?: boolean | undefined;
  /** Names by which the model calls the tools. At most 128 entries. */
  remove?: string[] | undefined;
  /** At most 128 entries. */
  add?: SelectedTool[] | undefined;
}
