/**
 * What the record of a call stores of a turn: how long each step of its answer took, and what interrupted an answer.
 * Rules R17 and R19 of SPEC.md.
 */

import type { TurnLatency } from "@parley/schema";
import { recordEvent } from "../call-events.ts";
import { emit, update, type Draft } from "../draft.ts";
import type { Reply, UserTurn } from "../state.ts";

/** At the first sound, or the first text, of the answer to a spoken turn. */
export function recordLatency(draft: Draft, reply: Reply): void {
  const { inputs, clock } = draft.state;
  const { turn } = inputs;
  if (turn === null || reply.purpose !== "answer") return;
  update(draft, { inputs: { ...inputs, turn: null } });
  const since = (atMs: number | null) => (atMs === null ? null : atMs - turn.speechEndAtMs);
  const latency: TurnLatency = {
    turnId: turn.turnId,
    endOfTurnMs: turn.endOfTurnAtMs - turn.speechEndAtMs,
    transcriptFinalMs: since(turn.transcriptAtMs),
    firstTokenMs: since(reply.times.firstToken),
    firstSentenceMs: since(reply.times.firstSentence),
    firstAudioMs: since(reply.times.firstAudio),
    firstPlayedMs: since(clock.atMs),
    speculative: reply.basis.transcript !== null,
  };
  emit(draft, { type: "recordTurnLatency", latency });
  recordEvent(draft, {
    severity: "info",
    type: "turn.completed",
    text: `the agent answered ${latency.firstPlayedMs} ms after the user's speech`,
    extras: { ...latency, medium: reply.medium, replyId: reply.replyId },
  });
}

/** A reply that the user or a failing voice has cut short. `text`: what was heard of it. */
export function recordInterruption(draft: Draft, reply: Reply, text: string): void {
  const { cutBy, confirmedBy, medium, replyId } = reply;
  recordEvent(draft, {
    severity: "info",
    type: "turn.interrupted",
    text: `the agent was interrupted by ${cutBy === "failure" ? "a failure" : cutBy}`,
    extras: {
      cause: cutBy,
      confirmedBy: cutBy === "speech" ? confirmedBy : null,
      heardChars: text.length,
      heardMs: medium === "voice" ? heardMs(reply) : null,
      medium,
      replyId,
    },
  });
}

/** As far as playout has reported; the last word that was begun may add a little. */
function heardMs({ segments }: Reply): number {
  return segments.reduce(
    (sum, { status, durationMs, playedMs }) => sum + (status === "played" ? durationMs : playedMs),
    0,
  );
}

/** Speech that was a turn, but had no words that the recogniser knows. It has no message. */
export function recordNotUnderstood(draft: Draft, { startMediaMs, speechMs }: UserTurn): void {
  recordEvent(draft, {
    severity: "info",
    type: "turn.not_understood",
    text: "the user's speech was not understood",
    extras: { startMediaMs, speechMs },
  });
}
