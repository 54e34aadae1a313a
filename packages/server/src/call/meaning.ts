/** What words over the agent's voice are: meant for the agent, a sign of listening, or the agent's own coming back. */

import { hasJustAsked, mayRepeatAgent, repeatsAgent } from "./agent-words.ts";
import { isBackchannel } from "./backchannel.ts";
import type { CallState, UserTurn } from "./state.ts";

/** none: no words are known. unsure: the first of them are also the agent's, which may be chance or echo. */
export type Meaning = "none" | "words" | "listening" | "echo" | "unsure";

/** Speech that begins now is over the agent's voice, or so soon after it that it may be its echo; tones say nothing. */
export function isOverAgent({ reply, agentHeardAtMs, clock, plan }: CallState): boolean {
  if (reply?.committed !== true || reply.playout !== "open" || reply.purpose === "tones") return false;
  const { echoTailMs } = plan.turnTaking;
  return reply.begun || (agentHeardAtMs !== null && clock.atMs - agentHeardAtMs < echoTailMs);
}

export function meaningOf(state: CallState, turn: UserTurn, text: string | null): Meaning {
  if (text === null) return "none";
  // While the agent still thinks there is nothing to listen to, and nothing that could come back.
  if (!turn.overAgent) return "words";
  const { backchannelMaxMs, echoTailMs } = state.plan.turnTaking;
  // What is written makes no sound that could come back.
  const mayEcho = echoTailMs > 0 && state.reply?.medium !== "text";
  if (mayEcho && repeatsAgent(state, text)) return "echo";
  if (mayEcho && turn.transcript === null && mayRepeatAgent(state, text)) return "unsure";
  const listening = backchannelMaxMs > 0 && isBackchannel(text, state.stage.languageHint);
  return listening && !hasJustAsked(state) ? "listening" : "words";
}
