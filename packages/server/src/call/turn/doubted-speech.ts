/**
 * Speech that came before the echo path was known. Once it is known, the windows of that time are judged again: a turn
 * of which enough was certainly the user's is not dropped with the echo that follows on it. Rule R200 of SPEC.md.
 */

import { updateTurn, type Draft } from "../draft.ts";
import type { EventOf } from "../events.ts";
import { FRAME_MS } from "./turn.ts";

/** So much of a turn must be louder than the echo would have been: a word. One window alone may be misjudged. */
export const CLEARED_SPEECH_MS = 192;

export function onEchoLearned(draft: Draft, { own }: EventOf<"echoLearned">): void {
  const { turn, stage } = draft.state;
  if (turn.kind === "quiet" || turn.clear) return;
  const speech = own.filter(
    ({ mediaMs, score }) => mediaMs > turn.startMediaMs && score > stage.vad.frameActivationThreshold,
  );
  if (speech.length * FRAME_MS >= CLEARED_SPEECH_MS) updateTurn(draft, { clear: true, cleared: true });
}
