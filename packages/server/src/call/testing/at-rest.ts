/** Whether a call is idle: tests and the simulation wait for it. */

import type { CallState } from "../call.ts";

export function isAtRest({ toolRound, reply, turn, inputs, opening, digits }: CallState): boolean {
  return (
    reply === null &&
    toolRound === null &&
    turn.kind === "quiet" &&
    opening.kind === "none" &&
    (digits?.gathered ?? "") === "" &&
    inputs.received === inputs.answered
  );
}
