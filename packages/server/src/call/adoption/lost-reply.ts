/**
 * The reply that was under way when the process of the call ended: what was heard stays, and the rest is said now.
 * Rule R183 of SPEC.md.
 */

import { send } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import { closeTranscript, replyText } from "../history/transcript.ts";
import { closeReply } from "../reply/playout.ts";
import { noteReplyDue } from "../reply/reply.ts";
import { isSpeakable } from "../reply/segment.ts";
import type { Reply, Segment } from "../state.ts";
import { openRound } from "../tools/round.ts";
import { noteAgentActivity } from "../turn/user-activity.ts";

/** Of a sentence of which the caller has heard less than this share, all is said again. */
const HEARD_SHARE = 0.5;

export function giveUpLostReply(draft: Draft): void {
  const { reply } = draft.state;
  if (reply === null) return;
  if (reply.begun) send(draft, "playbackClearBuffer", { type: "playback_clear_buffer" });
  if (reply.playout === "cutting") closeReply(draft);
  else if (reply.committed && reply.begun) closeBegun(draft, reply);
  else dropUnheard(draft, reply);
}

/** What it was to answer is still open. A text that nothing else holds is said from its beginning. */
function dropUnheard(draft: Draft, reply: Reply): void {
  update(draft, { reply: null });
  const text = textFrom(reply, 0);
  if (!reply.committed || !isSpeakable(text)) return;
  if (reply.purpose === "farewell") update(draft, { softEnd: { text } });
  else if (reply.purpose === "forced" || reply.purpose === "reminder") sayNext(draft, reply, text);
}

function closeBegun(draft: Draft, reply: Reply): void {
  const open = reply.segments.findIndex(({ status }) => status !== "played");
  const rest = textFrom(reply, open === -1 ? reply.segments.length : firstToSay(reply.segments, open));
  const isWhole = reply.generation === "finished";
  closeTranscript(draft, open !== -1 || reply.buffer !== "" || !isWhole);
  noteAgentActivity(draft);
  update(draft, { reply: null });
  if (reply.purpose === "filler" || reply.purpose === "tones") return;
  if (!isWhole) continueByModel(draft);
  else if (isSpeakable(rest)) sayNext(draft, reply, rest);
  else openRound(draft, reply.calls, true);
}

/** The sentence that was being heard is said again unless most of it was heard. */
function firstToSay(segments: readonly Segment[], open: number): number {
  const segment = segments[open];
  if (segment === undefined) return open;
  return segment.heardChars >= segment.text.length * HEARD_SHARE ? open + 1 : open;
}

function textFrom(reply: Reply, first: number): string {
  return (replyText({ ...reply, segments: reply.segments.slice(first) }) + reply.buffer).trim();
}

/** First of all that waits to be said, with the calls that follow it. */
function sayNext(draft: Draft, { calls, uninterruptible }: Reply, text: string): void {
  const entry = { text, calls, uninterruptible, immediate: true };
  update(draft, { forced: [entry, ...draft.state.forced] });
}

/** The end of its text is not known: the model is asked to go on, unless its answer to something newer is due. */
function continueByModel(draft: Draft): void {
  const { inputs } = draft.state;
  if (inputs.received > inputs.answered) return;
  noteReplyDue(draft);
  update(draft, { inputs: { ...draft.state.inputs, continuation: true } });
}
