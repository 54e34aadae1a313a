/**
 * Transcript messages: one sequence of ordinals over both sides, agent text word by word as it is heard.
 * Rule R16 of SPEC.md.
 */

import { send } from "../call-events.ts";
import { nextId, updateReply, type Draft } from "../draft.ts";
import { closeAgentMessage, openAgentMessage } from "./history.ts";
import { heardEnd, wordsOf } from "../reply/segment.ts";
import type { CallState, Reply } from "../state.ts";

/** The final message of something that the user said or typed; empty text gets none. */
export function showUserText(draft: Draft, text: string, medium: "voice" | "text"): void {
  if (text.trim() === "") return;
  const ordinal = nextId(draft, "ordinal");
  send(draft, "transcript", { type: "transcript", role: "user", medium, text, final: true, ordinal });
}

/** The whole text of the reply as far as it was cut into segments. */
export function replyText(reply: Reply): string {
  return reply.segments.map(({ lead, text }) => lead + text).join("");
}

/** The reply has all the text that it may have; its generation may still call tools. */
export function isFull({ plan }: CallState, { receivedChars }: Reply): boolean {
  return receivedChars > plan.turnTaking.maximumReplyChars;
}

/** What was heard of the reply, ending with a whole word. */
export function heardText(reply: Reply): string {
  let heard = "";
  for (const { lead, text, status, heardChars } of reply.segments) {
    if (status === "played") {
      heard += lead + text;
      continue;
    }
    const end = heardEnd(text, heardChars);
    return end === 0 ? heard : heard + lead + text.slice(0, end);
  }
  return heard;
}

/** Shows the words that began to be heard since the last time; the first opens transcript and message. */
export function showHeardWords(draft: Draft): void {
  const { reply } = draft.state;
  if (reply === null) return;
  const fresh = heardText(reply).slice(reply.transcript.shownChars);
  for (const word of wordsOf(fresh)) showWord(draft, word);
}

function showWord(draft: Draft, word: string): void {
  const { reply } = draft.state;
  if (reply === null) return;
  const shownChars = reply.transcript.shownChars + word.length;
  const { ordinal } = reply.transcript;
  const frame = { type: "transcript", role: "agent", medium: reply.medium, final: false } as const;
  if (ordinal !== null) {
    updateReply(draft, { transcript: { ordinal, shownChars } });
    send(draft, "transcript", { ...frame, delta: word, ordinal });
    return;
  }
  const first = nextId(draft, "ordinal");
  const messageIndex = openAgentMessage(draft, reply.medium);
  const { mediaMs, atMs } = draft.state.clock;
  updateReply(draft, {
    transcript: { ordinal: first, shownChars },
    messageIndex,
    startedMediaMs: mediaMs,
    startedAtMs: atMs,
  });
  send(draft, "transcript", { ...frame, text: word.trimStart(), ordinal: first });
}

/**
 * Ends the agent's transcript and message with what was heard, and returns that text. A reply of which no word was
 * heard leaves nothing, and its ordinal is still free.
 */
export function closeTranscript(draft: Draft, interrupted: boolean): string {
  showHeardWords(draft);
  const { reply } = draft.state;
  if (reply === null || reply.transcript.ordinal === null || reply.messageIndex === null) return "";
  const text = heardText(reply);
  const { ordinal } = reply.transcript;
  send(draft, "transcript", {
    type: "transcript",
    role: "agent",
    medium: reply.medium,
    text,
    final: true,
    ordinal,
  });
  closeAgentMessage(draft, reply.messageIndex, text, interrupted);
  return text;
}
