/** Data messages as this library reads and writes them. A test compares them with the schema of the service. */

export type AgentState = "idle" | "listening" | "thinking" | "speaking";
export type OutputMedium = "voice" | "text";
export type Role = "user" | "agent";
/** `immediate` may interrupt the agent; `soon` waits for its words; `later` waits for the next occasion. */
export type Urgency = "immediate" | "soon" | "later";

export interface TranscriptMessage {
  readonly type: "transcript";
  readonly role: Role;
  readonly medium: OutputMedium;
  /** The utterance so far; exactly one of `text` and `delta` is present. */
  readonly text?: string | undefined;
  /** Text added to the utterance. */
  readonly delta?: string | undefined;
  readonly final: boolean;
  readonly ordinal: number;
}

interface Invocation {
  readonly toolName: string;
  readonly invocationId: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ClientToolInvocation extends Invocation {
  readonly type: "client_tool_invocation";
}

export interface CallEventRecord {
  readonly callId: string;
  readonly callStageId: string;
  readonly callTimestamp: string;
  readonly wallClockTimestamp: string | null;
  readonly severity: "debug" | "info" | "warning" | "error";
  readonly type: string;
  readonly text: string;
  readonly extras: Readonly<Record<string, unknown>> | null;
}

/** All messages of the service. The call's `dataMessages` decide which are sent. */
export type ServerMessage =
  | { readonly type: "call_started"; readonly callId: string }
  | { readonly type: "state"; readonly state: AgentState }
  | { readonly type: "pong"; readonly timestamp: number }
  | TranscriptMessage
  | ClientToolInvocation
  | ({ readonly type: "data_connection_tool_invocation" } & Invocation)
  | ({ readonly type: "invoking_tool" } & Invocation)
  | ({
      readonly type: "tool_used";
      readonly result?: string | undefined;
      readonly errorDetails?: string | undefined;
    } & Invocation)
  | { readonly type: "playback_clear_buffer" }
  | { readonly type: "reconnect" }
  | { readonly type: "user_started_speaking"; readonly callTimestamp: string }
  | { readonly type: "user_stopped_speaking"; readonly callTimestamp: string }
  | { readonly type: "call_event"; readonly event: CallEventRecord }
  | { readonly type: "debug"; readonly message: string }
  | { readonly type: "thread_spawned"; readonly threadId: string }
  | { readonly type: "thread_rejected"; readonly threadId: string; readonly reason: string }
  | { readonly type: "thread_terminated"; readonly threadId: string; readonly reason: string }
  | { readonly type: "side_generation_delta"; readonly threadId: string; readonly delta: string }
  | {
      readonly type: "side_generation_completed";
      readonly threadId: string;
      readonly text: string;
      readonly toolCalls: readonly ForcedToolCall[];
    };

export interface ForcedToolCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

export interface ToolResultMessage {
  readonly type: "client_tool_result";
  readonly invocationId: string;
  /** Text stays as it is; anything else is sent as JSON text. */
  readonly result?: unknown;
  readonly responseType?: "tool-response" | "hang-up" | "new-stage" | "send-to-thread";
  /** Unset: the reaction in the tool's definition. */
  readonly agentReaction?: "speaks" | "listens" | "speaks-once";
  readonly errorType?: "undefined" | "implementation-error";
  /** Kept with the record of the call, not shown to the model. */
  readonly errorMessage?: string;
  /** Merged into the state of the call. */
  readonly updateCallState?: Readonly<Record<string, unknown>>;
}

export interface UserTextMessage {
  readonly type: "user_text_message";
  readonly text: string;
  /** Default: `soon`. */
  readonly urgency?: Urgency;
  /** True: no reply. False: a reply. Set, it overrides what `urgency` says about replies. */
  readonly deferResponse?: boolean;
  /** Default: the thread with audio. */
  readonly threadId?: string;
}

export interface ForcedAgentMessage {
  readonly type: "forced_agent_message";
  readonly content?: string;
  readonly toolCalls?: readonly ForcedToolCall[];
  readonly knownToolResults?: readonly { readonly invocationId: string; readonly result?: unknown }[];
  readonly uninterruptible?: boolean;
  /** Default: `soon`. */
  readonly urgency?: "immediate" | "soon";
  readonly threadId?: string;
}

/** Counts of 0 mean the deployment's limit. */
export interface ThreadLimits {
  readonly threadOutputTokenLimit?: number;
  readonly threadFuzzyInputTokenLimit?: number;
  readonly generationLimit?: number;
  readonly generationOutputTokenLimit?: number;
  readonly generationFuzzyInputTokenLimit?: number;
}

/** A message of the history that a thread begins with. */
export interface ThreadMessage {
  readonly role:
    "MESSAGE_ROLE_USER" | "MESSAGE_ROLE_AGENT" | "MESSAGE_ROLE_TOOL_CALL" | "MESSAGE_ROLE_TOOL_RESULT";
  readonly text?: string;
  readonly invocationId?: string;
  readonly toolName?: string;
}

export interface SpawnThreadMessage {
  readonly type: "spawn_thread";
  /** 1 to 64 letters, digits, underscores or hyphens. */
  readonly newThreadId: string;
  /** The thread that is copied. Default: the thread with audio, `UI`. */
  readonly parentThreadId?: string;
  /** Default: `reject`. */
  readonly ifExists?: "reject" | "replace";
  /** Follow the copied messages. Tool calls at their end are made. */
  readonly additionalMessages?: readonly ThreadMessage[];
  readonly toolFilter?: {
    readonly allowedTools?: readonly string[];
    readonly disallowedTools?: readonly string[];
  };
  readonly limits?: ThreadLimits;
}

/** All messages that a client may send. */
export type ClientMessage =
  | { readonly type: "ping"; readonly timestamp: number }
  | UserTextMessage
  | { readonly type: "set_output_medium"; readonly medium: OutputMedium }
  | ToolResultMessage
  | ForcedAgentMessage
  | { readonly type: "hang_up"; readonly message?: string }
  | SpawnThreadMessage;

/** Parses a message; null if the text is not a message. Fields are not checked. */
export function readServerMessage(text: string): ServerMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not from the service: a proxy in between wrote it.
    return null;
  }
  if (typeof value !== "object" || value === null || !("type" in value)) return null;
  return typeof value.type === "string" ? (value as ServerMessage) : null;
}
