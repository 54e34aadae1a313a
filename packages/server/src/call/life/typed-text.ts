/**
 * Words that the user has typed, or pressed as keys, and what becomes of them.
 * Rules R28 and R105 of SPEC.md.
 */

import { DATA_MESSAGE_NOTICE_EVERY_MS, recordEventAtMost } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import type { EventOf } from "../events.ts";
import { passOpening } from "../reply/first-speaker.ts";
import { addUserMessage } from "../history/history.ts";
import { cutReply } from "../reply/playout.ts";
import { awaitTick, dropSpeculation, noteInput } from "../reply/reply.ts";
import { showUserText } from "../history/transcript.ts";
import { noteUserActivity } from "../turn/user-activity.ts";

/**
 * Typed texts of one call from each sender but REST, whose requests have limits of their own. A conversation of eight
 * hours has one every half a minute.
 */
export const TYPED_TEXTS_MAX = 1_000;

export type TextSource = EventOf<"dataMessageReceived">["source"];

/** Whether the call still takes a typed text from there. */
export function countText(draft: Draft, source: TextSource): boolean {
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

/**
 * immediate: interrupts and requests a reply. soon: requests a reply when the agent has finished. later: is only added
 * to the history. A given `deferResponse` decides alone whether a reply is requested. Empty text that is immediate only
 * interrupts; clients send it with soon to have the agent speak.
 */
export function takeUserText(
  draft: Draft,
  text: string,
  urgency: "immediate" | "soon" | "later",
  deferResponse: boolean | undefined,
): void {
  const said = text.trim() !== "";
  const asks = !(deferResponse ?? (said ? urgency === "later" : urgency !== "soon"));
  if (urgency === "immediate") interrupt(draft);
  if (said) keepUserText(draft, text);
  if (said || asks) noteUserActivity(draft);
  // Words for the history alone do not prevent the opening; a user who has spoken needs no fallback.
  if (asks || (said && draft.state.opening.first === "user")) passOpening(draft);
  if (urgency === "immediate" && !said && !asks) waiveAnswer(draft);
  if (!asks) return;
  // It answers typed words: the latencies of a spoken turn would be wrong for it.
  noteInput(draft, { turn: null });
  awaitTick(draft);
}

/** Shows the text and adds it to the history. It asks for nothing. */
export function keepUserText(draft: Draft, text: string): void {
  const { mediaMs, atMs } = draft.state.clock;
  showUserText(draft, text, "text");
  const span = { startMediaMs: mediaMs, startAtMs: atMs, endMediaMs: mediaMs, endAtMs: atMs };
  addUserMessage(draft, { text, medium: "text", ...span });
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

export function noteDropped(
  draft: Draft,
  cause: EventOf<"dataMessageRejected">["cause"],
  detail: string,
): void {
  recordEventAtMost(draft, DATA_MESSAGE_NOTICE_EVERY_MS, `data_message.${cause}`, {
    severity: "warning",
    type: `data_message.${cause}`,
    text: `a data message was dropped: ${detail}`,
  });
}
