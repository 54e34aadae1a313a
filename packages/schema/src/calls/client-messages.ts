/**
 * What the holder of a join URL may send: three levels, and the data messages of each. The table below is the only
 * declaration: the call engine applies it, and a test compares the table in `docs/embedding.md` with it.
 */

import { z } from "zod";
import { MAIN_THREAD_ID, type ClientDataMessage } from "./data-messages.ts";

/** Each level allows less than the one before. */
export const CLIENT_MESSAGE_LEVELS = ["trusted", "standard", "media"] as const;
export type ClientMessageLevel = (typeof CLIENT_MESSAGE_LEVELS)[number];

export const DEFAULT_CLIENT_MESSAGES: ClientMessageLevel = "trusted";

type MessageType = ClientDataMessage["type"];
type MessageOf<T extends MessageType> = Extract<ClientDataMessage, { readonly type: T }>;

/** A data message, or a part of one, and the lowest level at which a client may send it. */
export interface ClientMessageRight {
  readonly type: MessageType;
  /** Null: the message itself. */
  readonly part: string | null;
  readonly lowest: ClientMessageLevel;
  /** What happens below that level, for readers. */
  readonly otherwise: string;
  /** What counts of a message below that level; null: nothing. The message itself where it lacks the part. */
  readonly without: (message: ClientDataMessage) => ClientDataMessage | null;
}

const DROPPED = "the message is dropped";

function message(type: MessageType, lowest: ClientMessageLevel): ClientMessageRight {
  const otherwise = lowest === "media" ? "" : DROPPED;
  return { type, part: null, lowest, otherwise, without: (sent) => (sent.type === type ? null : sent) };
}

function part<T extends MessageType>(
  type: T,
  name: string,
  lowest: ClientMessageLevel,
  otherwise: string,
  without: (message: MessageOf<T>) => ClientDataMessage | null,
): ClientMessageRight {
  const isType = (sent: ClientDataMessage): sent is MessageOf<T> => sent.type === type;
  return { type, part: name, lowest, otherwise, without: (sent) => (isType(sent) ? without(sent) : sent) };
}

/** Recorded with the call as the error of the tool. */
export const STAGE_REFUSED = "a client of this call cannot begin a new stage (clientMessages)";
export const THREADS_REFUSED = "a client of this call cannot send to threads (clientMessages)";

const OTHER_THREAD = "`threadId` other than `UI`";

export const CLIENT_MESSAGE_RIGHTS: readonly ClientMessageRight[] = [
  message("ping", "media"),
  message("user_text_message", "media"),
  part("user_text_message", OTHER_THREAD, "trusted", DROPPED, (sent) =>
    sent.threadId === MAIN_THREAD_ID ? sent : null,
  ),
  message("input_text_message", "media"),
  message("set_output_medium", "media"),
  message("hang_up", "media"),
  part("hang_up", "`message`", "standard", "the call ends without the message", (sent) =>
    sent.message === "" ? sent : { ...sent, message: "" },
  ),
  message("client_tool_result", "media"),
  part(
    "client_tool_result",
    "`updateCallState`",
    "standard",
    "the result counts, the state does not change",
    (sent) => {
      if (sent.updateCallState === undefined) return sent;
      const { updateCallState: _, ...rest } = sent;
      return rest;
    },
  ),
  part(
    "client_tool_result",
    "`message` of a `hang-up`",
    "standard",
    "the call ends without the message",
    (sent) => {
      if (sent.responseType !== "hang-up") return sent;
      const result = hangUpWithoutMessage(sent.result);
      return result === sent.result ? sent : { ...sent, result };
    },
  ),
  part("client_tool_result", "`new-stage`", "trusted", "the tool has failed, the stage stays", (sent) =>
    sent.responseType === "new-stage" ? failedResult(sent.invocationId, STAGE_REFUSED) : sent,
  ),
  part("client_tool_result", "`send-to-thread`", "trusted", "the tool has failed, nothing is sent", (sent) =>
    sent.responseType === "send-to-thread" ? failedResult(sent.invocationId, THREADS_REFUSED) : sent,
  ),
  message("data_connection_tool_result", "trusted"),
  message("forced_agent_message", "standard"),
  part("forced_agent_message", "`toolCalls`", "trusted", DROPPED, (sent) =>
    sent.toolCalls.length > 0 ? null : sent,
  ),
  part("forced_agent_message", OTHER_THREAD, "trusted", DROPPED, (sent) =>
    sent.threadId === MAIN_THREAD_ID ? sent : null,
  ),
  message("spawn_thread", "trusted"),
];

function refusedAt(level: ClientMessageLevel): string {
  return CLIENT_MESSAGE_RIGHTS.filter((right) => !allowsRight(level, right))
    .map(({ type, part: name }) => (name === null ? `\`${type}\`` : `${name} in \`${type}\``))
    .join(", ");
}

export const ClientMessages = z
  .enum(CLIENT_MESSAGE_LEVELS)
  .meta({ default: DEFAULT_CLIENT_MESSAGES })
  .describe(
    "What the holder of the join URL may send. `trusted`: all data messages. " +
      `\`standard\`: not ${refusedAt("standard")}. ` +
      `\`media\`, for web pages: not ${refusedAt("media")}. ` +
      "The data connection and REST are not limited, except that below `trusted` a stage that begins over the data " +
      "connection has only tools that the call already had.",
  );

export interface PermittedMessage {
  /** What counts of the message; null: nothing. */
  readonly message: ClientDataMessage | null;
  /** What was refused of it; empty: nothing. */
  readonly refused: readonly ClientMessageRight[];
}

/** Whether a client of this level may send it. */
export function allowsRight(level: ClientMessageLevel, { lowest }: ClientMessageRight): boolean {
  return CLIENT_MESSAGE_LEVELS.indexOf(level) <= CLIENT_MESSAGE_LEVELS.indexOf(lowest);
}

/** What counts of a message from a client of this level. */
export function permittedMessage(level: ClientMessageLevel, sent: ClientDataMessage): PermittedMessage {
  const refused: ClientMessageRight[] = [];
  let counts: ClientDataMessage = sent;
  for (const right of CLIENT_MESSAGE_RIGHTS) {
    if (allowsRight(level, right)) continue;
    const rest = right.without(counts);
    if (rest !== counts) refused.push(right);
    if (rest === null) return { message: null, refused };
    counts = rest;
  }
  return { message: counts, refused };
}

function failedResult(invocationId: string, errorMessage: string): ClientDataMessage {
  return {
    type: "client_tool_result",
    invocationId,
    result: "",
    responseType: "tool-response",
    errorType: "implementation-error",
    errorMessage,
  };
}

/** The same `{strict, message}` without `message`; what is none stays as it is. */
function hangUpWithoutMessage(result: string): string {
  let value: unknown;
  try {
    value = JSON.parse(result);
  } catch {
    return result;
  }
  if (typeof value !== "object" || value === null || !("message" in value)) return result;
  const { message: _, ...rest } = value;
  return JSON.stringify(rest);
}
