/**
 * The user speaks while a reply is to be heard (D130): playout pauses at once, words or longer speech make the
 * interruption real and cut the reply, anything less lets it go on. Before the first sound the same holds the reply
 * back, so that it neither talks over the user nor is lost.
 */

import { updateReply, updateTurn, type Draft } from "./draft.ts";
import { cutReply } from "./playout.ts";
import { hasAnyWords, silenceMs } from "./turn.ts";

export function settleInterruption(draft: Draft): void {
  const { reply, turn, voice, stage, plan } = draft.state;
  if (reply === null || !reply.committed || reply.uninterruptible || reply.playout === "cutting") return;
  if (turn.kind === "quiet") {
    release(draft);
    return;
  }
  const interrupting = voice.speaking && voice.runMs >= stage.vad.minimumInterruptionDurationMs;
  if (interrupting && (turn.interrupts !== reply.replyId || reply.heldBy === null)) {
    updateTurn(draft, { interrupts: reply.replyId });
    updateReply(draft, { heldBy: turn.utteranceId });
  }
  const now = draft.state.turn;
  if (now.kind === "quiet" || now.interrupts !== reply.replyId) return;
  const long = voice.speaking && voice.runMs >= plan.turnTaking.interruptionConfirmMs;
  if (long || hasAnyWords(now)) {
    updateTurn(draft, { confirmed: true });
    cutReply(draft, "speech");
    return;
  }
  if (silenceMs(draft.state) >= plan.turnTaking.resumeAfterSilenceMs) release(draft);
}

function release(draft: Draft): void {
  if (draft.state.reply?.heldBy !== null) updateReply(draft, { heldBy: null });
}
