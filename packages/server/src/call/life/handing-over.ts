/** Whether another process is to continue the call, so that nothing new begins here. Rule R156 of SPEC.md. */

import type { CallState } from "../state.ts";

/** A call whose last words are being said ends here, so nothing of it is handed over. */
export function isHandingOver({ phase, handover }: CallState): boolean {
  return phase.kind === "live" && handover !== undefined;
}

/** The sentence of the reply that may still be heard; null: none was being spoken. */
export function lastSentence({ handover }: CallState, replyId: number): number | null {
  return handover?.last?.replyId === replyId ? handover.last.segmentId : null;
}
