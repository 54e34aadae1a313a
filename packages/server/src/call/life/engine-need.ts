/**
 * Whether the call waits for recogniser or model now: only that time counts against an engine that fails.
 * Rule R26 of SPEC.md.
 */

import type { Draft } from "../draft.ts";
import { setNeeded } from "./engines.ts";
import { isReplyDue } from "../reply/reply.ts";
import type { CallState } from "../state.ts";

/** Stops and starts the count of the failure limits; after everything else of a step is settled. */
export function settleEngineNeed(draft: Draft): void {
  setNeeded(draft, "stt", needsRecogniser(draft.state));
  setNeeded(draft, "llm", needsModel(draft.state));
}

function needsRecogniser({ turn }: CallState): boolean {
  return turn.kind !== "quiet" && (turn.request === "asked" || turn.request === "retrying");
}

/** A request is open, or another could start now but for the delay of a retry. */
function needsModel(state: CallState): boolean {
  const { reply, toolRound, turn, opening } = state;
  if (reply !== null) {
    if (reply.playout === "cutting") return reply.cutBy === "failure" && !reply.begun;
    return reply.generation === "running";
  }
  if (toolRound !== null) return false;
  if (turn.kind === "pausing") return turn.transcript?.understood === true;
  return turn.kind === "quiet" && (isReplyDue(state) || opening.kind === "due");
}
