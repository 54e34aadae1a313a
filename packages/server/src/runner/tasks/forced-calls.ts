/** Checks the tool calls of forced messages, from whomever they come, like those of the model. */

import type { CallState } from "../../call/call.ts";
import type { CallEngineEvent } from "../../call/events.ts";
import { levelOf } from "../../call/life/message-rights.ts";
import { permittedMessage } from "@parley/schema";
import { checkToolCall, type CheckArguments } from "./tool-call-check.ts";

/** The event with what is wrong with its tool calls in the present stage; other events as they are. */
export function withProblems(
  event: CallEngineEvent,
  { plan, stage }: Pick<CallState, "plan" | "stage">,
  checkArguments: CheckArguments,
): CallEngineEvent {
  if (event.type !== "dataMessageReceived" || event.message.type !== "forced_agent_message") return event;
  const { message } = permittedMessage(levelOf(plan, event.source), event.message);
  // A check costs time, which a client that may not make calls cannot take.
  if (message?.type !== "forced_agent_message" || message.toolCalls.length === 0) return event;
  const problems = message.toolCalls.map(({ name, arguments: given }, index) => {
    const call = { id: "", name, arguments: given };
    return checkToolCall(call, index, stage.tools, checkArguments).problem;
  });
  return { ...event, problems };
}
