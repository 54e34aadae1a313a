/** What a client may send, by the level of its call's plan. Rule R104 of SPEC.md. */

import {
  DEFAULT_CLIENT_MESSAGES,
  permittedMessage,
  type ClientDataMessage,
  type ClientMessageLevel,
} from "@parley/schema";
import type { CallPlan } from "../../plan/plan.ts";
import { DATA_MESSAGE_NOTICE_EVERY_MS, recordEventAtMost } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import type { EventOf } from "../events.ts";

type Received = Pick<EventOf<"dataMessageReceived">, "message" | "source">;

/** The level of one sender: the data connection and REST are the account's own. */
export function levelOf(plan: CallPlan, source: Received["source"]): ClientMessageLevel {
  if (source !== "client") return DEFAULT_CLIENT_MESSAGES;
  return plan.clientMessages ?? DEFAULT_CLIENT_MESSAGES;
}

/** What counts of a message, or null. What does not is counted and told. */
export function permitted(draft: Draft, { message: sent, source }: Received): ClientDataMessage | null {
  const { plan, dataMessages } = draft.state;
  const level = levelOf(plan, source);
  const { message, refused } = permittedMessage(level, sent);
  if (refused.length === 0) return message;
  const count = dataMessages.refused + 1;
  update(draft, { dataMessages: { ...dataMessages, refused: count } });
  const what = refused.map(({ type, part }) => (part === null ? type : `${part} in ${type}`)).join(", ");
  recordEventAtMost(draft, DATA_MESSAGE_NOTICE_EVERY_MS, "data_message.refused", {
    severity: "warning",
    type: "data_message.refused",
    text: `the client of this call may not send ${what}: its clientMessages is ${level}`,
    extras: { messageType: sent.type, clientMessages: level, refused: count },
  });
  return message;
}
