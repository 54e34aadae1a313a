/**
 * The user speaks while a reply is to be heard (D130): playout pauses at once, words or longer speech make the
 * interruption real and cut the reply, anything less lets it go on. Before the first sound the same holds the reply
 * back, so that it neither talks over the user nor is lost. Listening words and the agent's own words coming back are
 * neither words nor length.
 */

import { updateReply, updateTurn, type Draft } from "./draft.ts";
import { meaningOf, type Meaning } from "./meaning.ts";
import { cutReply } from "./playout.ts";
import type { CallState, Reply } from "./state.ts";
import { anyWords, silenceMs } from "./turn.ts";

export function settleInterruption(draft: Draft): void {
  const { reply, turn } = draft.state;
  if (reply === null || !reply.committed || reply.uninterruptible || reply.playout === "cutting") return;
  if (turn.kind === "quiet") {
    release(draft);
    return;
  }
  const meaning = meaningOf(draft.state, turn, anyWords(turn));
  if (holds(draft.state, reply, meaning) && (turn.interrupts !== reply.replyId || reply.heldBy === null)) {
    const overAgent = turn.overAgent || (reply.begun && reply.purpose !== "tones");
    updateTurn(draft, { interrupts: reply.replyId, overAgent });
    updateReply(draft, { heldBy: turn.utteranceId });
  }
  const now = draft.state.turn;
  if (now.kind === "quiet" || now.interrupts !== reply.replyId) return;
  if (meaning === "words" || isLong(draft.state, meaning)) {
    updateTurn(draft, { confirmed: true });
    updateReply(draft, { confirmedBy: meaning === "words" ? "words" : "length" });
    cutReply(draft, "speech");
    return;
  }
  if (silenceMs(draft.state) >= draft.state.plan.turnTaking.resumeAfterSilenceMs) release(draft);
}

/** Whether speech pauses the reply: at once, but right after its first sound only what is certainly meant. */
function holds({ voice, stage, clock, plan }: CallState, reply: Reply, meaning: Meaning): boolean {
  if (!voice.speaking || voice.runMs < stage.vad.minimumInterruptionDurationMs) return false;
  const { interruptionGraceMs, interruptionConfirmMs } = plan.turnTaking;
  const fresh = reply.begun && clock.atMs - reply.startedAtMs < interruptionGraceMs;
  return !fresh || meaning === "words" || voice.runMs >= interruptionConfirmMs;
}

/** Speech that is confirmed by its length alone. */
function isLong({ voice, plan }: CallState, meaning: Meaning): boolean {
  if (!voice.speaking || meaning === "echo") return false;
  const { interruptionConfirmMs, backchannelMaxMs } = plan.turnTaking;
  const least =
    meaning === "listening" || meaning === "unsure"
      ? Math.max(interruptionConfirmMs, backchannelMaxMs)
      : interruptionConfirmMs;
  return voice.runMs >= least;
}

function release(draft: Draft): void {
  if (draft.state.reply?.heldBy !== null) updateReply(draft, { heldBy: null });
}
