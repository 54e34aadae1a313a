/**
 * Early words of the user, for a client that asks for them (`experimentalMessages=partials`). They have the ordinal that
 * the next utterance will have: whatever is said first takes it, and its message replaces them. Rule R110 of SPEC.md.
 */

import { sendToClient } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import type { CallState } from "../state.ts";
import type { PartialWords } from "./history-state.ts";
import { anyWords } from "../turn/words-of-turn.ts";

/** Recognisers revise early words several times a second; a reader sees no more than this. */
export const PARTIAL_EVERY_MS = 100;

export const NO_PARTIALS: PartialWords = { asked: false, shown: null, lastAtMs: 0 };

/** Shows the words that are known of the open turn, or takes them back when there are none any more. */
export function showPartialWords(draft: Draft): void {
  const { partials, ids, clock } = draft.state;
  if (!partials.asked) return;
  // An utterance of either side has taken the ordinal.
  const shown = partials.shown !== null && partials.shown.ordinal < ids.ordinal ? null : partials.shown;
  const text = wordsOf(draft.state);
  const isNew = text !== (shown?.text ?? "");
  const isDue = text === "" || partials.lastAtMs === 0 || clock.atMs - partials.lastAtMs >= PARTIAL_EVERY_MS;
  if (!isNew || !isDue) {
    if (shown !== partials.shown) update(draft, { partials: { ...partials, shown } });
    return;
  }
  const { ordinal } = ids;
  const now = text === "" ? null : { ordinal, text };
  update(draft, { partials: { asked: true, shown: now, lastAtMs: clock.atMs } });
  sendToClient(draft, "transcript", {
    type: "transcript",
    role: "user",
    medium: "voice",
    text,
    final: false,
    ordinal,
  });
}

function wordsOf({ turn, phase }: CallState): string {
  if (turn.kind === "quiet" || phase.kind !== "live") return "";
  return anyWords(turn)?.trim() ?? "";
}
