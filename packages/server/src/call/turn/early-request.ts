/**
 * The transcript is requested at the first sign of a pause: most pauses of that length are the end of the turn, and
 * recogniser, model and voice then have the whole endpoint delay for their work. A request this early may be wasted, so
 * it is limited; the others are made after `speculationDelay` as usual. Rule R7a of SPEC.md.
 */

import type { CallState } from "../state.ts";

/** Early requests of a turn, however short: two words with a closed consonant between them make two. */
export const EARLY_REQUESTS_FIRST = 3;
/** Longer speech has one more for each of these: a recogniser is called at most every other second. */
export const EARLY_REQUEST_EVERY_MS = 2_000;

/**
 * Whether the user seems to have paused and may be taken at that. Speech over the agent's voice is excluded: words in
 * it decide whether it is an interruption, and half of a word is none.
 */
export function seemsOver({ voice, turn, plan, stage }: CallState): boolean {
  if (turn.kind === "quiet" || turn.kind === "ended" || turn.forced) return false;
  if (turn.overAgent || turn.interrupts !== null) return false;
  const { transcriptDelayMs, speculationDelayMs } = plan.turnTaking;
  if (transcriptDelayMs >= speculationDelayMs || turn.speechMs < stage.vad.minimumTurnDurationMs)
    return false;
  const allowed = EARLY_REQUESTS_FIRST + Math.floor(turn.speechMs / EARLY_REQUEST_EVERY_MS);
  if (turn.earlyRequests >= allowed) return false;
  return voice.onsetMs === 0 && voice.frameMediaMs - voice.lastSpeechMediaMs >= transcriptDelayMs;
}
