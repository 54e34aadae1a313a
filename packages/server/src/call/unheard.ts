/** A forced message that was not heard is not lost with its reply (D100). */

import { update, type Draft } from "./draft.ts";
import { isSpeakable } from "./segment.ts";
import type { Reply } from "./state.ts";
import { callsStand } from "./tool-round.ts";
import { replyText } from "./transcript.ts";

/** Replies that go on after a failure, until the user says something new; what always breaks off must end. */
export const CONTINUATIONS_MAX = 2;

/** Cut by the user before its first sound it is said anew, cut by a failure its rest is; calls that stand are made now. */
export function keepUnheard(draft: Draft, reply: Reply, heard: string): void {
  const { purpose, cutBy, begun, uninterruptible } = reply;
  if (purpose !== "forced" || cutBy === null || cutBy === "end") return;
  if (cutBy !== "failure" && begun) return;
  const text = (replyText(reply) + reply.buffer).slice(heard.length).trim();
  if (!isSpeakable(text)) return;
  const { inputs, forced } = draft.state;
  if (cutBy === "failure") {
    if (inputs.continuations >= CONTINUATIONS_MAX) return;
    update(draft, { inputs: { ...inputs, continuations: inputs.continuations + 1 } });
  }
  const calls = callsStand(reply) ? [] : reply.calls;
  // What cut it by an immediate message goes before it.
  const before = cutBy === "text" ? forced.filter(({ immediate }) => immediate) : [];
  const entry = { text, calls, uninterruptible, immediate: cutBy !== "text" };
  update(draft, { forced: [...before, entry, ...forced.slice(before.length)] });
}
