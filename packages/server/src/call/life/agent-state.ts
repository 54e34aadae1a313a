/**
 * The agent's state as clients see it. It is derived from the call's state and not stored.
 * Invariant I10 of SPEC.md.
 */

import { isReplyDue } from "../reply/reply.ts";
import type { AgentState, CallState } from "../state.ts";

export function agentState(state: CallState): AgentState {
  const { phase, reply, turn, opening } = state;
  if (phase.kind === "created" || phase.kind === "waiting" || phase.kind === "ended") return "idle";
  if (reply?.committed === true && reply.playout === "open") return reply.begun ? "speaking" : "thinking";
  if (phase.kind === "parting") return "thinking";
  if (state.toolRound !== null) return "thinking";
  const free = reply === null || reply.playout === "cutting";
  const due = isReplyDue(state) || opening.kind === "due";
  return free && due && turn.kind === "quiet" ? "thinking" : "listening";
}
