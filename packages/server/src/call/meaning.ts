/** What words over the agent's voice are: meant for the agent, a sign of listening, or the agent's own coming back. */

import { hasJustAsked, mayRepeatAgent, repeatsAgent } from "./agent-words.ts";
import { isBackchannel } from "./backchannel.ts";
import type { CallState, UserTurn } from "./state.ts";

/** none: no words are known. unsure: the first of them are also the agent's, which may be chance or echo. */
export type Meaning = "none" | "words" | "listening" | "echo" | "unsure";

export function meaningOf(state: CallState, turn: UserTurn, text: string | null): Meaning {
  if (text === null) return "none";
  if (!turn.overAgent && turn.interrupts === null) return "words";
  const { backchannelMaxMs, echoTailMs } = state.plan.turnTaking;
  // What is written makes no sound that could come back.
  const mayEcho = echoTailMs > 0 && state.reply?.medium !== "text";
  if (mayEcho && repeatsAgent(state, text)) return "echo";
  if (mayEcho && turn.transcript === null && mayRepeatAgent(state, text)) return "unsure";
  const listening = backchannelMaxMs > 0 && isBackchannel(text, state.stage.languageHint);
  return listening && !hasJustAsked(state) ? "listening" : "words";
}
