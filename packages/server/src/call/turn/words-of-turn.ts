/** What is known of the words of a turn. Rules R10 and R19 of SPEC.md. */

import { isSpeakable } from "../reply/segment.ts";
import type { UserTurn } from "../state.ts";

/** Speech shorter than this that no recogniser understands is a cough or a knock, not a turn. */
export const UNRECOGNIZED_SPEECH_MIN_MS = 400;

export function hasWords({ transcript }: UserTurn): boolean {
  return transcript !== null && transcript.understood && isSpeakable(transcript.text);
}

/** Words of any kind, also provisional ones: enough to confirm an interruption. Null: none are known. */
export function anyWords(turn: UserTurn): string | null {
  if (turn.transcript !== null && hasWords(turn)) return turn.transcript.text;
  return isSpeakable(turn.partial) ? turn.partial : null;
}

/** Without words, speech over the agent's voice that stayed unconfirmed is a cough or an echo. */
export function isDoubtful(turn: UserTurn): boolean {
  const slight = turn.interrupts !== null || turn.speechMs < UNRECOGNIZED_SPEECH_MIN_MS;
  return slight && !turn.confirmed && !turn.forced;
}
