/** Data messages: JSON objects sent beside the audio, distinguished by `type`. */

import { z } from "zod";
import { CallEvent } from "./call-event.ts";
import { Duration } from "../values/duration.ts";
import { FreeObject, FreeValue, Uuid } from "../values/fields.ts";
import { checkValue } from "../values/issues.ts";
import { InitialMessage } from "./message.ts";
import { ReconnectMessage } from "./reconnect-message.ts";
import { normalizeInput } from "../values/normalize.ts";
import { withExactlyOne } from "../values/one-of.ts";

/** Largest message in either direction, in bytes of UTF-8. A larger one could delay the audio of a call. */
export const MAX_DATA_MESSAGE_BYTES = 256 * 1024;

/** The thread that has audio. */
export const MAIN_THREAD_ID = "UI";
/** In a data message that a tool sends: the thread from which the tool's own thread was spawned. */
export const PARENT_THREAD_ID = "_PARENT";
const THREAD_ID_PATTERN = /^[a-zA-Z0-9_-]{1,64}$/;

/** Whether a side thread may have this id. */
export function isSideThreadId(id: string): boolean {
  return THREAD_ID_PATTERN.test(id) && id !== MAIN_THREAD_ID && id !== PARENT_THREAD_ID;
}

/** Why a side thread was not started. */
export const THREAD_REJECTIONS = ["exists", "unknown_parent", "too_many", "invalid"] as const;
export type ThreadRejection = (typeof THREAD_REJECTIONS)[number];

/** Why a side thread has ended. */
export const THREAD_ENDS = ["call_ended", "stage_changed", "replaced", "limit_reached", "failed"] as const;
export type ThreadEnd = (typeof THREAD_ENDS)[number];

/** Names of one list of a thread's tool filter. A stage has fewer tools. */
const TOOL_FILTER_MAX = 500;

export const Urgency = z.enum(["immediate", "soon", "later"]);
export type Urgency = z.output<typeof Urgency>;

const threadId = z
  .string()
  .default(MAIN_THREAD_ID)
  .describe("The thread that receives the message; `UI` is the thread with audio.");

const Ping = z
  .strictObject({
    type: z.literal("ping"),
    timestamp: z.number().describe("Any number; the `pong` repeats it."),
  })
  .describe("Requests a `pong`, to measure the round-trip time.");

const UserTextMessage = z
  .strictObject({
    type: z.literal("user_text_message"),
    text: z
      .string()
      .describe("Empty text adds nothing to the history, but can still interrupt or request a reply."),
    urgency: Urgency.default("soon").describe(
      "`immediate` interrupts the agent and requests a reply, `soon` requests a reply after the agent has finished, " +
        "`later` only adds to the history.",
    ),
    deferResponse: z
      .boolean()
      .optional()
      .describe("True: no reply. False: a reply. Set, it overrides what `urgency` says about replies."),
    threadId,
  })
  .describe(
    "What the user typed. The service answers with a final `transcript` with the medium `text`. A side thread takes it " +
      "as `soon` whatever its urgency, without a transcript.",
  );

const InputTextMessage = z
  .strictObject({
    type: z.literal("input_text_message"),
    text: z.string(),
    deferResponse: z.boolean().default(false).describe("True: like urgency `later`."),
  })
  .describe("The older form of `user_text_message`, with the urgency `soon`.");

const SetOutputMedium = z
  .strictObject({
    type: z.literal("set_output_medium"),
    medium: z.enum(["voice", "text"]).default("voice"),
  })
  .describe("Whether the agent speaks or writes, starting with its next reply.");

/** What the result of a tool does. */
export const TOOL_RESPONSE_TYPES = ["tool-response", "hang-up", "new-stage", "send-to-thread"] as const;
export type ToolResponseType = (typeof TOOL_RESPONSE_TYPES)[number];

/** What the agent does once it has the result of a tool. */
export const REACTIONS = ["speaks", "listens", "speaks-once"] as const;
export type Reaction = (typeof REACTIONS)[number];

/** Text stays as it is; anything else becomes JSON text. */
const ResultText = FreeValue.transform((value): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? ""),
).default("");

const toolResult = {
  invocationId: z.string().min(1).describe("The invocation that this message answers."),
  result: ResultText.describe("The result for the model. Anything but text is sent as JSON text."),
  responseType: z.enum(TOOL_RESPONSE_TYPES).default("tool-response"),
  agentReaction: z.enum(REACTIONS).optional().describe("Absent: the tool's own reaction."),
  errorType: z
    .enum(["undefined", "implementation-error"])
    .optional()
    .describe("`undefined`: the client has no such tool."),
  errorMessage: z.string().optional().describe("Stored with the call, not shown to the model."),
  updateCallState: FreeObject.optional().describe("Merged into the state of the call."),
};

const ClientToolResult = z
  .strictObject({ type: z.literal("client_tool_result"), ...toolResult })
  .describe("The answer to a `client_tool_invocation`.");
const DataConnectionToolResult = z
  .strictObject({ type: z.literal("data_connection_tool_result"), ...toolResult })
  .describe("The answer to a `data_connection_tool_invocation`.");

/** Also accepted as `{toolName, parameters}`; parses to `{id, name, arguments}`. */
const ForcedToolCall = z
  .strictObject({
    id: z.string().min(1).optional(),
    name: z.string().min(1).optional(),
    toolName: z.string().min(1).optional(),
    arguments: FreeObject.optional(),
    parameters: FreeObject.optional(),
  })
  .superRefine((call, context) => {
    if ((call.name === undefined) === (call.toolName === undefined)) {
      const message = call.name === undefined ? "is required" : "must not be given together with toolName";
      context.addIssue({ code: "custom", path: ["name"], message });
    }
  })
  .transform(({ id, name, toolName, arguments: args, parameters }) => ({
    ...(id === undefined ? {} : { id }),
    name: name ?? toolName ?? "",
    arguments: args ?? parameters ?? {},
  }));

const ForcedAgentMessage = z
  .strictObject({
    type: z.literal("forced_agent_message"),
    content: z.string().default(""),
    toolCalls: z.array(ForcedToolCall).max(16).default([]),
    knownToolResults: z
      .array(z.strictObject({ invocationId: z.string().min(1), result: ResultText }))
      .max(16)
      .default([]),
    uninterruptible: z.boolean().default(false),
    urgency: z.enum(["immediate", "soon"]).default("soon"),
    threadId,
  })
  .describe("The agent says exactly this and makes exactly these tool calls.");

const HangUp = z
  .strictObject({
    type: z.literal("hang_up"),
    message: z.string().default("").describe("Said in full before the call ends. Empty: nothing is said."),
  })
  .describe("The agent ends the call, with the end reason `agent_hangup`.");

const threadLimit = z.int().min(0).default(0);

const toolNames = z.array(z.string()).max(TOOL_FILTER_MAX).default([]);

const SpawnThread = z
  .strictObject({
    type: z.literal("spawn_thread"),
    newThreadId: z
      .string()
      .describe(
        "1 to 64 letters, digits, underscores or hyphens, and neither `UI` nor `_PARENT`. Any other id is rejected as " +
          "`invalid`.",
      ),
    parentThreadId: threadId.describe("The thread that is copied: its messages, tools and call state."),
    ifExists: z
      .enum(["reject", "replace"])
      .default("reject")
      .describe("What happens if the call has a thread of this id: `replace` ends it first."),
    additionalMessages: z
      .array(InitialMessage)
      .max(1000)
      .default([])
      .describe("Follow the copied messages. Tool calls at their end are made."),
    toolFilter: z
      .strictObject({
        allowedTools: toolNames.describe("Empty: all tools of the stage."),
        disallowedTools: toolNames,
      })
      .prefault({})
      .describe("A call to another tool is answered at once: the tool is not available."),
    limits: z
      .strictObject({
        threadOutputTokenLimit: threadLimit.describe("Of all generations of the thread together."),
        threadFuzzyInputTokenLimit: threadLimit.describe("Of all generations of the thread together."),
        generationLimit: threadLimit.describe("Number of generations of the thread."),
        generationOutputTokenLimit: threadLimit.describe("Of one generation."),
        generationFuzzyInputTokenLimit: threadLimit.describe(
          "Of one generation, estimated before it starts.",
        ),
      })
      .prefault({})
      .describe("0: the deployment's limit. A higher number than the deployment's has no effect."),
  })
  .describe(
    "Starts a thread beside the conversation, without audio. It copies another thread and generates until there is " +
      "nothing more to answer.",
  );

/** Every message that a client may send. Defaults are filled in by parsing. */
export const ClientDataMessage = z.discriminatedUnion("type", [
  Ping,
  UserTextMessage,
  InputTextMessage,
  SetOutputMedium,
  ClientToolResult,
  DataConnectionToolResult,
  ForcedAgentMessage,
  HangUp,
  SpawnThread,
]);
export type ClientDataMessage = z.output<typeof ClientDataMessage>;

/** The data messages that may also be sent by REST. */
export const SendCallDataMessage = z.discriminatedUnion("type", [
  ForcedAgentMessage,
  HangUp,
  UserTextMessage,
]);
export type SendCallDataMessage = z.output<typeof SendCallDataMessage>;

const role = z.enum(["user", "agent"]);
const spokenOrTyped = z.enum(["voice", "text"]);

const Transcript = withExactlyOne(
  z.strictObject({
    type: z.literal("transcript"),
    role,
    medium: spokenOrTyped,
    text: z.string().optional().describe("The utterance so far."),
    delta: z.string().optional().describe("Text added to the utterance."),
    final: z
      .boolean()
      .describe("True in the last message of its `ordinal`, whose `text` is the whole utterance."),
    ordinal: z.int().min(0).describe("Position in one sequence of user and agent utterances, from 0."),
  }),
  ["text", "delta"],
).describe(
  "What was said or typed. The agent's words are sent as they are heard: the first in `text`, each further one as a " +
    "`delta` with its leading space. At its end `text` has the whole utterance, cut where it was interrupted. The " +
    "user's utterances are sent once, as a whole. A client that joins with `experimentalMessages=partials` also gets " +
    "their early words, with `final` false and the whole text so far in `text`; each message replaces the one before " +
    "it, the next utterance of that `ordinal` replaces them, and an empty text takes them back.",
);

const callTimestamp = Duration.describe("Media played or received since the join.");

const invocation = {
  toolName: z.string(),
  invocationId: z.string(),
  parameters: FreeObject,
};

/** All messages that the service sends. */
export const ServerDataMessage = z.union([
  z
    .strictObject({ type: z.literal("call_started"), callId: Uuid })
    .describe("The first message after the join."),
  z
    .strictObject({
      type: z.literal("state"),
      state: z
        .enum(["idle", "listening", "thinking", "speaking"])
        .describe(
          "`idle`: no media yet. `listening`: the user can speak. `thinking`: the turn is over and the reply has not " +
            "started. `speaking`: until the last audio has been played, not sent.",
        ),
    })
    .describe("What the agent is doing. Sent after the join, at every change and after a reconnect."),
  z
    .strictObject({ type: z.literal("pong"), timestamp: z.number().describe("The timestamp of the `ping`.") })
    .describe("The answer to a `ping`."),
  Transcript,
  z
    .strictObject({ type: z.literal("client_tool_invocation"), ...invocation })
    .describe("The client must run a tool and answer with a `client_tool_result`."),
  z
    .strictObject({ type: z.literal("data_connection_tool_invocation"), ...invocation })
    .describe("The data connection must run a tool and answer with a `data_connection_tool_result`."),
  z
    .strictObject({ type: z.literal("invoking_tool"), ...invocation })
    .describe("A tool, wherever it runs, is about to be invoked."),
  z
    .strictObject({
      type: z.literal("tool_used"),
      ...invocation,
      result: z.string().optional(),
      errorDetails: z.string().optional(),
    })
    .describe(
      "A tool has answered, or failed. `result` is what the model sees, also of a failure; only a failure has `errorDetails`.",
    ),
  z
    .strictObject({ type: z.literal("playback_clear_buffer") })
    .describe(
      "Drop all audio that you have not played yet. Sent after the last frame of the interrupted speech, so play " +
        "every frame after it.",
    ),
  ReconnectMessage,
  z
    .strictObject({ type: z.literal("user_started_speaking"), callTimestamp })
    .describe("Voice activity started. It does not always become a turn."),
  z
    .strictObject({ type: z.literal("user_stopped_speaking"), callTimestamp })
    .describe("Voice activity ended. The turn may continue."),
  z
    .strictObject({ type: z.literal("call_event"), event: CallEvent })
    .describe(
      "A new entry of the list of call events. Events with the severity `debug` are sent only if `debug` is on too.",
    ),
  z
    .strictObject({ type: z.literal("debug"), message: z.string() })
    .describe("Debug output for developers. The texts may change at any time."),
  z
    .strictObject({ type: z.literal("thread_spawned"), threadId: z.string() })
    .describe("A side thread was started."),
  z
    .strictObject({ type: z.literal("thread_rejected"), threadId: z.string(), reason: z.string() })
    .describe(`A side thread was not started. \`reason\`: ${THREAD_REJECTIONS.join(", ")}.`),
  z
    .strictObject({ type: z.literal("thread_terminated"), threadId: z.string(), reason: z.string() })
    .describe(`A side thread ended. \`reason\`: ${THREAD_ENDS.join(", ")}.`),
  z
    .strictObject({ type: z.literal("side_generation_delta"), threadId: z.string(), delta: z.string() })
    .describe("More text of a side thread."),
  z
    .strictObject({
      type: z.literal("side_generation_completed"),
      threadId: z.string(),
      text: z.string(),
      toolCalls: z.array(z.strictObject({ id: z.string(), name: z.string(), arguments: FreeObject })),
    })
    .describe(
      "A generation of a side thread is complete. The `id` of a tool call that follows is its invocation id.",
    ),
]);
export type ServerDataMessage = z.output<typeof ServerDataMessage>;

export type ParsedClientDataMessage =
  | { readonly ok: true; readonly message: ClientDataMessage }
  | { readonly ok: false; readonly cause: "invalid" | "unknown"; readonly detail: string };

const CLIENT_TYPES: ReadonlySet<string> = new Set(
  ClientDataMessage.options.map((option) => option.shape.type.value),
);

/** Characters of an unknown type that `detail` repeats. */
const MAX_ECHOED_TYPE = 60;

/**
 * Reads one text frame. Unknown fields are ignored, since newer clients may send more. `detail` names fields and
 * never repeats what was said in the call.
 */
export function parseClientDataMessage(text: string): ParsedClientDataMessage {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return { ok: false, cause: "invalid", detail: "not JSON" };
  }
  return readClientDataMessage(document);
}

/** Like `parseClientDataMessage`, for parsed JSON. */
export function readClientDataMessage(document: unknown): ParsedClientDataMessage {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    return { ok: false, cause: "invalid", detail: "not a JSON object" };
  }
  const { type } = document as { type?: unknown };
  if (typeof type !== "string" || type === "")
    return { ok: false, cause: "invalid", detail: "type is required" };
  if (!CLIENT_TYPES.has(type)) {
    return {
      ok: false,
      cause: "unknown",
      detail: `unknown type ${JSON.stringify(type.slice(0, MAX_ECHOED_TYPE))}`,
    };
  }
  const { value, errors } = normalizeInput(ClientDataMessage, document, { lenient: true });
  const checked = checkValue(ClientDataMessage, value);
  const problems = checked.ok ? errors : [...errors, ...checked.errors];
  if (!checked.ok || problems.length > 0) {
    const detail = `${type}: ${problems.map(({ field, message }) => `${field} ${message}`).join("; ")}`;
    return { ok: false, cause: "invalid", detail };
  }
  return { ok: true, message: checked.value };
}
