/** The tool calls that a data message asks for. Whoever runs the call checks their arguments before the engine gets them. */

import { parseSendToThread, type ClientDataMessage, type InitialMessage } from "@parley/schema";
import type { CallEngineEventBody } from "../events.ts";
import { argumentsOf } from "../history/model-messages.ts";

export interface GivenCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The calls with which the messages of a new thread end: it begins by making them. */
export function callsAtEnd(messages: readonly InitialMessage[]): readonly GivenCall[] {
  const last = messages.findLastIndex(({ role }) => role !== "MESSAGE_ROLE_TOOL_CALL");
  return messages.slice(last + 1).map(({ toolName = "", text = "" }) => {
    return { name: toolName, arguments: argumentsOf(text) };
  });
}

function callsIn(message: ClientDataMessage): readonly GivenCall[] {
  if (message.type === "forced_agent_message") return message.toolCalls;
  if (message.type === "spawn_thread") return callsAtEnd(message.additionalMessages);
  const sends = "responseType" in message && message.responseType === "send-to-thread";
  return sends ? callsSent(message.result) : [];
}

/** Those of a document that sends to a thread; none where it cannot be read. */
function callsSent(document: string): readonly GivenCall[] {
  const parsed = parseSendToThread(document);
  return parsed.ok ? callsIn(parsed.message) : [];
}

/** @param message what counts of the event's message */
export function callsAskedFor(
  event: CallEngineEventBody,
  message: ClientDataMessage | null,
): readonly GivenCall[] {
  if (event.type === "dataMessageReceived") return message === null ? [] : callsIn(message);
  if (event.type !== "toolFinished" || event.outcome.kind !== "completed") return [];
  return event.outcome.responseType === "send-to-thread" ? callsSent(event.outcome.result) : [];
}
