/**
 * Whose voice a window has. The runner compares what comes in with what was played and says how likely a window is the
 * agent's own voice coming back; in the first second and a half of the agent's voice it cannot tell yet.
 * Rules R90 and R90a of SPEC.md.
 */

import type { CallState, WindowOrigin } from "../state.ts";

/** A window that is this likely the agent's own voice coming back is no speech of the user. */
export const ECHO_LIKELY = 0.5;
/** From here on it is unknown whose it is. */
export const ECHO_POSSIBLE = 0.25;

export function originOf(state: CallState, echo: number): WindowOrigin {
  if (echo < ECHO_POSSIBLE || !mayEcho(state)) return "user";
  return echo >= ECHO_LIKELY ? "agent" : "unknown";
}

/** Nothing of the open turn is certainly the user's; so it is the agent's, once one window of it is. */
export function isAllDoubtful({ turn }: CallState): boolean {
  return turn.kind !== "quiet" && !turn.clear && !turn.confirmed && !turn.forced;
}

/** The agent is being heard, or was so recently that its echo may still arrive. */
function mayEcho({ reply, agentHeardAtMs, clock, plan }: CallState): boolean {
  const { echoTailMs } = plan.turnTaking;
  if (echoTailMs === 0 || agentHeardAtMs === null) return false;
  return (reply?.begun === true && reply.playout === "open") || clock.atMs - agentHeardAtMs < echoTailMs;
}
