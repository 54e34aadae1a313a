/**
 * Data messages from the client, over the data connection or by REST; all three count alike.
 * Rules R28 and R29 of SPEC.md.
 */

import { MAIN_THREAD_ID, type ClientDataMessage } from "@parley/schema";
import {
  DATA_MESSAGE_NOTICE_EVERY_MS,
  recordEventAtMost,
  sendToClient,
  sendToDataConnection,
} from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import { hangUp } from "./ending.ts";
import type { EventOf } from "../events.ts";
import { passOpening } from "../reply/first-speaker.ts";
import { takeForced } from "../reply/forced.ts";
import { addUserMessage } from "../history/history.ts";
import { cutReply } from "../reply/playout.ts";
import { dropSpeculation, noteInput } from "../reply/reply.ts";
import { onToolResult } from "../tools/use.ts";
import { showUserText } from "../history/transcript.ts";
import { noteUserActivity } from "../turn/user-activity.ts";

const COUNTS_IN_LAST_WORDS: ReadonlySet<ClientDataMessage["type"]> = new Set([
  "ping",
  "client_tool_result",
  "data_connection_tool_result",
]);

export function onDataMessage(draft: Draft, { message, source }: EventOf<"dataMessageReceived">): void {
  // During the last words only pings are answered; the result of a tool is still recorded.
  if (draft.state.phase.kind === "parting" && !COUNTS_IN_LAST_WORDS.has(message.type)) return;
  switch (message.type) {
    case "ping":
      answerPing(draft, message.timestamp, source);
      return;
    case "user_text_message":
      if (message.threadId !== MAIN_THREAD_ID) noteUnused(draft, "a thread other than UI");
      else takeUserText(draft, message.text, message.urgency, message.deferResponse);
      return;
    case "input_text_message":
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
      onToolResult(draft, message);
      return;
    case "forced_agent_message":
      if (message.threadId !== MAIN_THREAD_ID) noteUnused(draft, "a thread other than UI");
      else takeForced(draft, message);
      return;
    case "spawn_thread":
      noteUnused(draft, message.type);
  }
}

/** A ping measures a round trip: only its sender is answered. */
function answerPing(draft: Draft, timestamp: number, source: EventOf<"dataMessageReceived">["source"]): void {
  const answer = source === "dataConnection" ? sendToDataConnection : sendToClient;
  answer(draft, "pong", { type: "pong", timestamp });
}

/**
 * immediate: interrupts and requests a reply. soon: requests a reply when the agent has finished. later: is only added
 * to the history. A given `deferResponse` decides alone whether a reply is requested.
 */
function takeUserText(
  draft: Draft,
  text: string,
  urgency: "immediate" | "soon" | "later",
  deferResponse: boolean | undefined,
): void {
  const said = text.trim() !== "";
  const asks = deferResponse === undefined ? said && urgency !== "later" : !deferResponse;
  if (urgency === "immediate") interrupt(draft);
  if (said) {
    const { mediaMs, atMs } = draft.state.clock;
    showUserText(draft, text, "text");
    const span = { startMediaMs: mediaMs, startAtMs: atMs, endMediaMs: mediaMs, endAtMs: atMs };
    addUserMessage(draft, { text, medium: "text", ...span });
  }
  if (said || asks) noteUserActivity(draft);
  // Words for the history alone do not prevent the opening; a user who has spoken needs no fallback.
  if (asks || (said && draft.state.opening.first === "user")) passOpening(draft);
  if (urgency === "immediate" && !said && !asks) waiveAnswer(draft);
  if (!asks) return;
  // It answers typed words: the latencies of a spoken turn would be wrong for it.
  noteInput(draft, { turn: null });
}

/** Only an interruption: a reply in preparation is dropped. Results of tools are not. */
function waiveAnswer(draft: Draft): void {
  const { inputs, reply, toolRound } = draft.state;
  if (toolRound !== null || reply?.uninterruptible === true) return;
  const answeredIndex = draft.state.history.nextIndex;
  update(draft, {
    inputs: { ...inputs, answered: inputs.received, answeredIndex, continuation: false, turn: null },
  });
}

function interrupt(draft: Draft): void {
  const { reply } = draft.state;
  if (reply === null || reply.uninterruptible) return;
  if (reply.committed) cutReply(draft, "text");
  else dropSpeculation(draft);
}

export function onDataMessageRejected(draft: Draft, { cause, detail }: EventOf<"dataMessageRejected">): void {
  recordEventAtMost(draft, DATA_MESSAGE_NOTICE_EVERY_MS, `data_message.${cause}`, {
    severity: "warning",
    type: `data_message.${cause}`,
    text: `a data message was dropped: ${detail}`,
  });
}

function noteUnused(draft: Draft, what: ClientDataMessage["type"] | "a thread other than UI"): void {
  recordEventAtMost(draft, DATA_MESSAGE_NOTICE_EVERY_MS, "data_message.unknown", {
    severity: "warning",
    type: "data_message.unknown",
    text: `a data message was dropped: this version does not act on ${what}`,
  });
}
