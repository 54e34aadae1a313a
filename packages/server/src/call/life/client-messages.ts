/**
 * Data messages from the client, over the data connection or by REST. All three count alike, except that the plan may
 * allow a client less. Rules R28a and R29 of SPEC.md.
 */

import type { ClientDataMessage } from "@parley/schema";
import { sendToClient, sendToDataConnection } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import { hangUp } from "./ending.ts";
import type { EventOf } from "../events.ts";
import { deliver } from "../threads/deliver.ts";
import { onToolResult } from "../tools/use.ts";
import { permitted } from "./message-rights.ts";
import { countText, noteDropped, takeUserText, type TextSource } from "./typed-text.ts";

const COUNTS_IN_LAST_WORDS: ReadonlySet<ClientDataMessage["type"]> = new Set([
  "ping",
  "client_tool_result",
  "data_connection_tool_result",
]);

export function onDataMessage(draft: Draft, event: EventOf<"dataMessageReceived">): void {
  const { source, problems = [] } = event;
  // During the last words only pings are answered; the result of a tool is still recorded.
  if (draft.state.phase.kind === "parting" && !COUNTS_IN_LAST_WORDS.has(event.message.type)) return;
  const message = permitted(draft, event);
  if (message === null) return;
  switch (message.type) {
    case "ping":
      answerPing(draft, message.timestamp, source);
      return;
    case "user_text_message":
      if (countText(draft, source)) deliver(draft, { message, problems }, null);
      return;
    case "input_text_message":
      if (countText(draft, source))
        takeUserText(draft, message.text, message.deferResponse ? "later" : "soon", undefined);
      return;
    case "hang_up":
      hangUp(draft, message.message);
      return;
    case "set_output_medium":
      // A reply stays in the medium that it began with.
      update(draft, { outputMedium: message.medium });
      return;
    case "client_tool_result":
    case "data_connection_tool_result":
      onToolResult(draft, message, source, problems);
      return;
    case "forced_agent_message":
    case "spawn_thread":
      deliver(draft, { message, problems }, null);
  }
}

/** A ping measures a round trip: only its sender is answered. */
function answerPing(draft: Draft, timestamp: number, source: TextSource): void {
  const answer = source === "dataConnection" ? sendToDataConnection : sendToClient;
  answer(draft, "pong", { type: "pong", timestamp });
}

export function onDataMessageRejected(draft: Draft, { cause, detail }: EventOf<"dataMessageRejected">): void {
  noteDropped(draft, cause, detail);
}
