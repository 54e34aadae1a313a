/** Retries forced messages that were not heard. Rules R23 and R54 of SPEC.md. */

import { update, type Draft } from "../draft.ts";
import { isSpeakable } from "./segment.ts";
import type { Reply } from "../state.ts";
import { callsStand } from "../tools/round.ts";
import { replyText } from "../history/transcript.ts";

/** Replies that go on after a failure, until the user says something new; a permanent failure must end. */
export const CONTINUATIONS_MAX = 2;

/** If the user cut it before its first sound, it is said again; after a failure its rest is; its calls are made now. */
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
  // The immediate message that cut it goes before it.
  const before = cutBy === "text" ? forced.filter(({ immediate }) => immediate) : [];
  const entry = { text, calls, uninterruptible, immediate: cutBy !== "text" };
  update(draft, { forced: [...before, entry, ...forced.slice(before.length)] });
}
