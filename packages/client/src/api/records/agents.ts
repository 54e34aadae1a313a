/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type {
  AgentBasic,
} from "./calls.ts";
import type {
  CallMedium,
  FirstSpeakerSettings,
  VadSettings,
} from "./media.ts";
import type {
  DataConnectionConfig,
  SelectedTool,
  TimedMessage,
} from "./requests.ts";
import type {
  ExternalVoice,
  VoiceOverrides,
} from "./voices.ts";

/** An agent. Secrets in its template are masked or left out. */
export interface Agent {
  /** A UUID. */
  agentId: string;
  /** A UUID. */
  publishedRevisionId: string | null;
  /** At most 64 characters. */
  name: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  callTemplate: CallTemplate | null;
  statistics: {
    /** At least 0. */
    calls: number;
  };
}

export interface AgentPage {
  results: Agent[];
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

/**
 * The body that changes an agent. Absent fields stay unchanged. `callTemplate` replaces the whole stored
 * template, so send write-only values again; null clears it. A null name restores the name made from the id.
 */
export interface AgentPatch {
  /** At most 64 characters. */
  name?: string | null | undefined;
  callTemplate?: CallTemplate | null | undefined;
}

/** The usage of an agent, on days with calls. A deleted agent has its last name. */
export interface AgentUsage {
  agent: AgentBasic;
  usage: Array<{
    /** A date, such as `2026-01-02`. */
    date: string;
    /** At least 0. */
    billedMinutes: number;
    /** At least 0. */
    calls: number;
  }>;
}

/** The body that creates an agent. Without a name, the name is made from the id. */
export interface AgentWrite {
  /** At most 64 characters. */
  name?: string | undefined;
  callTemplate?: CallTemplate | undefined;
}

/** Defaults for the calls of an agent. Unset fields get their defaults when a call is created. */
export interface CallTemplate {
  name?: string | undefined;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. Ignored in requests. */
  created?: string | undefined;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. Ignored in requests. */
  updated?: string | undefined;
  medium?: CallMedium | undefined;
  /** Whether the agent starts by speaking or by writing. Default: `"MESSAGE_MEDIUM_VOICE"`. */
  initialOutputMedium?: "MESSAGE_MEDIUM_VOICE" | "MESSAGE_MEDIUM_TEXT" | undefined;
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
  vadSettings?: VadSettings | undefined;
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
  firstSpeakerSettings?: FirstSpeakerSettings | undefined;
  /** Instructions for the model. A template string: `{{name}}` is filled at call creation. */
  systemPrompt?: string | undefined;
  /** Randomness of the model's output. From 0 to 1. Default: `0`. */
  temperature?: number | undefined;
  /** The name of a model from the list of models. At most 128 characters. Default: `"default"`. */
  model?: string | undefined;
  /** Name or id of a voice. Unset: the voice engine's default. At most 128 characters. */
  voice?: string | undefined;
  externalVoice?: ExternalVoice | undefined;
  voiceOverrides?: VoiceOverrides | undefined;
  /** Language of the conversation as a BCP 47 tag, such as `en`. A template string. */
  languageHint?: string | undefined;
  /**
   * Words and names that the recogniser should expect. `experimentalSettings.transcriptHints` of a call wins.
   * At most 100 entries.
   */
  transcriptHints?: string[] | undefined;
  /** What the agent says when `maxDuration` is over. A template string. */
  timeExceededMessage?: string | undefined;
  /** What the agent says to a silent user, one after the other. At most 100 entries. */
  inactivityMessages?: TimedMessage[] | undefined;
  /** Tools that the model can call. At most 128 entries. */
  selectedTools?: SelectedTool[] | undefined;
  dataConnection?: DataConnectionConfig | undefined;
  /** JSON Schema of the variables; made from the template strings when unset. */
  contextSchema?: Record<string, unknown> | undefined;
  /** Each signs the data connection; use several to rotate. At most 10 entries. Never returned. */
  sharedSecrets?: string[] | undefined;
  retentionPolicy?:
    | "retain"
    | "auto_delete"
    | "CALL_RETENTION_POLICY_RETAIN"
    | "CALL_RETENTION_POLICY_AUTO_DELETE"
    | undefined;
}
