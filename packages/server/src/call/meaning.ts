/** What words over the agent's voice are: meant for the agent, a sign of listening, or the agent's own coming back. */

import { hasJustAsked, repeatsAgent } from "./agent-words.ts";
import { isBackchannel } from "./backchannel.ts";
import type { CallState, UserTurn } from "./state.ts";

/** none: no words are known. */
export type Meaning = "none" | "words" | "listening" | "echo";

export function meaningOf(state: CallState, turn: UserTurn, text: string | null): Meaning {
  if (text === null) return "none";
  if (!turn.overAgent && turn.interrupts === null) return "words";
  const { backchannelMaxMs, echoTailMs } = state.plan.turnTaking;
  // What is written makes no sound that could come back.
  const sounds = state.reply?.medium !== "text";
  if (sounds && echoTailMs > 0 && repeatsAgent(state, text)) return "echo";
  const listening = backchannelMaxMs > 0 && isBackchannel(text, state.stage.languageHint);
  return listening && !hasJustAsked(state) ? "listening" : "words";
}
