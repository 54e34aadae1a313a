/**
 * Tool calls that were on their way when the process of the call ended. None is sent again, because nobody knows
 * whether it was carried out. Rule R184 of SPEC.md.
 */

import { update, type Draft } from "../draft.ts";
import { callsOf, failCall, rememberDropped, setProgress, type Failure } from "../tools/round.ts";
import type { ToolAnswer } from "../tools/tool-state.ts";

/** What the model is told. */
export const UNKNOWN_OUTCOME: Failure = {
  cause: "error",
  text:
    "The outcome of this call is unknown: the service was interrupted before the tool answered. It may have been " +
    "carried out, and was not sent again.",
  errorDetails: "outcome unknown: the process that had sent the call ended before the tool answered",
};

export const UNKNOWN_ANSWER: ToolAnswer = {
  text: UNKNOWN_OUTCOME.text,
  errorDetails: UNKNOWN_OUTCOME.errorDetails,
  reaction: "speaks",
  stateChanges: null,
  consequence: null,
};

/** Calls that wait were not sent yet: they are sent by the settling of this step. */
export function giveUpLostTools(draft: Draft): void {
  const lost: string[] = [];
  for (const call of callsOf(draft.state)) {
    const { invocationId, progress } = call;
    if (progress.kind === "running" || progress.kind === "sounding") {
      lost.push(invocationId);
      failCall(draft, call, UNKNOWN_OUTCOME);
    }
    // Preparing a stage only reads, so it is asked for again.
    if (progress.kind === "staging") setProgress(draft, invocationId, { ...progress, deadlineAtMs: null });
  }
  const unawaited = draft.state.unawaitedTools.map(({ invocationId }) => invocationId);
  // A client may still send its result, which is no fault of it.
  rememberDropped(draft, [...lost, ...unawaited]);
  if (unawaited.length > 0) update(draft, { unawaitedTools: [] });
}
