/**
 * Data messages from the client, over the data connection or by REST. All three count alike, except that the plan may
 * allow a client less. Rules R28, R28a, R29 and R105 of SPEC.md.
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
import { awaitTick, dropSpeculation, noteInput } from "../reply/reply.ts";
import { onToolResult } from "../tools/use.ts";
import { showUserText } from "../history/transcript.ts";
import { noteUserActivity } from "../turn/user-activity.ts";
import { permitted } from "./message-rights.ts";

/**
 * Typed texts of one call from each sender but REST, whose requests have limits of their own. A conversation of eight
 * hours has one every half a minute.
 */
export const TYPED_TEXTS_MAX = 1_000;

type Source = EventOf<"dataMessageReceived">["source"];

const COUNTS_IN_LAST_WORDS: ReadonlySet<ClientDataMessage["type"]> = new Set([
  "ping",
  "client_tool_result",
  "data_connection_tool_result",
]);

export function onDataMessage(draft: Draft, event: EventOf<"dataMessageReceived">): void {
  const { source } = event;
  // During the last words only pings are answered; the result of a tool is still recorded.
  if (draft.state.phase.kind === "parting" && !COUNTS_IN_LAST_WORDS.has(event.message.type)) return;
  const message = permitted(draft, event);
  if (message === null) return;
  switch (message.type) {
    case "ping":
      answerPing(draft, message.timestamp, source);
      return;
    case "user_text_message":
      if (message.threadId !== MAIN_THREAD_ID) noteUnused(draft, "a thread other than UI");
      else if (countText(draft, source))
        takeUserText(draft, message.text, message.urgency, message.deferResponse);
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
      onToolResult(draft, message, source);
      return;
    case "forced_agent_message":
      if (message.threadId !== MAIN_THREAD_ID) noteUnused(draft, "a thread other than UI");
      else takeForced(draft, message, event.problems ?? []);
      return;
    case "spawn_thread":
      noteUnused(draft, message.type);
  }
}

/** Whether the call still takes a typed text from there. */
function countText(draft: Draft, source: Source): boolean {
  if (source === "api") return true;
  const { dataMessages } = draft.state;
  const { texts } = dataMessages;
  if (texts[source] < TYPED_TEXTS_MAX) {
    update(draft, { dataMessages: { ...dataMessages, texts: { ...texts, [source]: texts[source] + 1 } } });
    return true;
  }
  const sender = source === "client" ? "client" : "data connection";
  const detail = `a call takes at most ${TYPED_TEXTS_MAX} typed texts from its ${sender}`;
  noteDropped(draft, "limited", detail);
  return false;
}

/** A ping measures a round trip: only its sender is answered. */
function answerPing(draft: Draft, timestamp: number, source: Source): void {
  const answer = source === "dataConnection" ? sendToDataConnection : sendToClient;
  answer(draft, "pong", { type: "pong", timestamp });
}

/**
 * immediate: interrupts and requests a reply. soon: requests a reply when the agent has finished. later: is only added
 * to the history. A given `deferResponse` decides alone whether a reply is requested. Empty text that is immediate only
 * interrupts; clients send it with soon to have the agent speak.
 */
function takeUserText(
  draft: Draft,
  text: string,
  urgency: "immediate" | "soon" | "later",
  deferResponse: boolean | undefined,
): void {
  const said = text.trim() !== "";
  const asks = !(deferResponse ?? (said ? urgency === "later" : urgency !== "soon"));
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
  awaitTick(draft);
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
  noteDropped(draft, cause, detail);
}

function noteDropped(draft: Draft, cause: EventOf<"dataMessageRejected">["cause"], detail: string): void {
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
