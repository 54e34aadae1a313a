/** When nothing is under way in a call: what tests and the simulation wait for. */

import type { CallState } from "../call.ts";

export function isAtRest({ toolRound, reply, turn, inputs, opening }: CallState): boolean {
  return (
    reply === null &&
    toolRound === null &&
    turn.kind === "quiet" &&
    opening.kind === "none" &&
    inputs.received === inputs.answered
  );
}
