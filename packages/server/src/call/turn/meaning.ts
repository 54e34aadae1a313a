/**
 * Classifies words over the agent's voice: meant for the agent, a sign of listening, or the agent's own coming back.
 * Rules R87 and R91 of SPEC.md.
 */

import { hasJustAsked, mayRepeatAgent, repeatsAgent } from "./agent-words.ts";
import { isBackchannel, mayBecomeBackchannel } from "./backchannel.ts";
import type { CallState, UserTurn } from "../state.ts";

/** none: no words are known. unsure: the first of them may be the agent's coming back, or half of "of course". */
export type Meaning = "none" | "words" | "listening" | "echo" | "unsure";

/** Speech that begins now is over the agent's voice, or so soon after it that it may be its echo; tones say nothing. */
export function isOverAgent({ reply, agentHeardAtMs, clock, plan }: CallState): boolean {
  if (reply?.committed !== true || reply.playout !== "open" || reply.purpose === "tones") return false;
  const { echoTailMs } = plan.turnTaking;
  return reply.begun || (agentHeardAtMs !== null && clock.atMs - agentHeardAtMs < echoTailMs);
}

/** Whether listening words are possible: over the agent's voice, while it expects no answer. */
export function mayBeListening(state: CallState, turn: UserTurn): boolean {
  return turn.overAgent && state.plan.turnTaking.backchannelMaxMs > 0 && !hasJustAsked(state);
}

export function meaningOf(state: CallState, turn: UserTurn, text: string | null): Meaning {
  if (text === null) return "none";
  // While the agent still thinks there is nothing to listen to, and nothing that could come back.
  if (!turn.overAgent) return "words";
  const { echoTailMs } = state.plan.turnTaking;
  // Written text makes no sound that could come back.
  const mayEcho = echoTailMs > 0 && state.reply?.medium !== "text";
  if (mayEcho && repeatsAgent(state, text)) return "echo";
  if (mayEcho && turn.transcript === null && mayRepeatAgent(state, text)) return "unsure";
  if (!mayBeListening(state, turn)) return "words";
  const { languageHint } = state.stage;
  if (isBackchannel(text, languageHint)) return "listening";
  return turn.transcript === null && mayBecomeBackchannel(text, languageHint) ? "unsure" : "words";
}
