/**
 * The user speaks while a reply is to be heard: playout pauses at once, words or longer speech make the
 * interruption real and cut the reply, anything less lets it go on. Before the first sound the same holds the reply
 * back, so that it neither talks over the user nor is lost. Listening words and the agent's own words coming back are
 * neither words nor length. Rules R18 to R21, R19a and R89 of SPEC.md.
 */

import { updateReply, updateTurn, type Draft } from "../draft.ts";
import { mayBeListening, meaningOf, type Meaning } from "./meaning.ts";
import { cutReply } from "../reply/playout.ts";
import type { CallState, Reply, UserTurn } from "../state.ts";
import { silenceMs } from "./turn.ts";
import { anyWords } from "./words-of-turn.ts";

export function settleInterruption(draft: Draft): void {
  const { reply, turn } = draft.state;
  if (reply === null || !reply.committed || reply.uninterruptible || reply.playout === "cutting") return;
  if (turn.kind === "quiet") {
    release(draft);
    return;
  }
  const meaning = meaningOf(draft.state, turn, anyWords(turn));
  const holding = holds(draft.state, reply, meaning) || isHeardOut(turn, meaning);
  if (holding && (turn.interrupts !== reply.replyId || reply.heldBy === null)) {
    const overAgent = turn.overAgent || (reply.begun && reply.purpose !== "tones");
    const long = turn.long && turn.interrupts === reply.replyId;
    updateTurn(draft, { interrupts: reply.replyId, overAgent, long });
    updateReply(draft, { heldBy: turn.utteranceId });
  }
  if (draft.state.turn.kind === "quiet" || draft.state.turn.interrupts !== reply.replyId) return;
  const now = noteLength(draft, draft.state.turn);
  if (meaning === "words" || isLong(draft.state, now, meaning)) {
    updateTurn(draft, { confirmed: true });
    updateReply(draft, { confirmedBy: meaning === "words" ? "words" : "length" });
    cutReply(draft, "speech");
    return;
  }
  if (silenceMs(draft.state) >= draft.state.plan.turnTaking.resumeAfterSilenceMs) release(draft);
}

/**
 * Whether speech pauses the reply: at once, but only what is certainly meant right after its first sound, or if it may
 * be echo.
 */
function holds({ voice, stage, clock, plan }: CallState, reply: Reply, meaning: Meaning): boolean {
  if (!voice.speaking || voice.runMs < stage.vad.minimumInterruptionDurationMs) return false;
  const { interruptionGraceMs, interruptionConfirmMs } = plan.turnTaking;
  if (voice.origin === "unknown") return meaning === "words";
  const fresh = reply.begun && clock.atMs - reply.startedAtMs < interruptionGraceMs;
  return !fresh || meaning === "words" || voice.runMs >= interruptionConfirmMs;
}

/** Speech that paused nothing, because it might have been echo, but turns out to have words. */
function isHeardOut(turn: UserTurn, meaning: Meaning): boolean {
  return turn.overAgent && (!turn.clear || turn.cleared) && turn.transcript !== null && meaning === "words";
}

function noteLength(draft: Draft, turn: UserTurn): UserTurn {
  const { voice, plan } = draft.state;
  const long = voice.speaking && voice.runMs >= plan.turnTaking.interruptionConfirmMs;
  return long && !turn.long ? updateTurn(draft, { long }) : turn;
}

/**
 * Speech that is confirmed by its length alone. "Yeah, okay" is longer than a cough, so where a listener may speak, the
 * recogniser decides first: nothing is played meanwhile, so an interruption loses nothing. It is not called while the
 * speech goes on, for half of "of course" is a word of another kind. A recogniser that says nothing must not turn an
 * interruption into silence and then into a reply that goes on.
 */
function isLong(state: CallState, turn: UserTurn, meaning: Meaning): boolean {
  if (meaning === "echo") return false;
  const { voice, plan } = state;
  const { interruptionConfirmMs, backchannelMaxMs, resumeAfterSilenceMs } = plan.turnTaking;
  if (voice.speaking && voice.runMs >= Math.max(interruptionConfirmMs, backchannelMaxMs)) return true;
  if (!turn.long || meaning !== "none") return false;
  const answered = turn.transcript !== null || silenceMs(state) >= resumeAfterSilenceMs;
  return answered || !mayBeListening(state, turn);
}

function release(draft: Draft): void {
  if (draft.state.reply?.heldBy !== null) updateReply(draft, { heldBy: null });
}
