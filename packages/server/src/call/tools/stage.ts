/** Stages: a tool may answer with the next one. Rules R51 to R53 of SPEC.md. */

import { recordEvent, warnOfStage } from "../call-events.ts";
import { emit, update, type Draft } from "../draft.ts";
import type { EventOf } from "../events.ts";
import { beginHistory } from "../history/history.ts";
import { endThreads } from "../threads/end-threads.ts";
import { answerCall, failCall } from "./round.ts";
import type { NewStage, ToolCall } from "./tool-state.ts";
import type { StagePlan } from "../../plan/plan.ts";
import { noteUserActivity } from "../turn/user-activity.ts";

/** Preparing a stage looks up an agent's voice, model and tools in the database; more than this is a fault. */
export const STAGE_LIMIT_MS = 5_000;

export function onStagePrepared(draft: Draft, event: EventOf<"stagePrepared">): void {
  const call = stagedCall(draft, event.invocationId);
  if (call?.progress.kind !== "staging") return;
  const { stage, initialMessages, initialState, toolResultText } = event;
  const { reaction, stateChanges } = call.progress;
  answerCall(draft, call.invocationId, {
    text: toolResultText,
    errorDetails: null,
    reaction,
    stateChanges,
    consequence: { kind: "newStage", stage, initialMessages, initialState },
  });
}

export function onStageRefused(draft: Draft, { invocationId, error }: EventOf<"stageRefused">): void {
  const call = stagedCall(draft, invocationId);
  if (call === null) return;
  failCall(draft, call, { cause: "error", text: `The tool failed: ${error}`, errorDetails: error });
}

/** The call whose stage is being prepared; null when it is no longer awaited. */
function stagedCall(draft: Draft, invocationId: string): ToolCall | null {
  const calls = draft.state.toolRound?.calls ?? [];
  const call = calls.find((waiting) => waiting.invocationId === invocationId);
  return call?.progress.kind === "staging" && call.progress.deadlineAtMs !== null ? call : null;
}

/** From here on the new stage applies everywhere; the round that led to it is recorded in the old one. */
export function beginNewStage(draft: Draft, { stage, initialMessages, initialState }: NewStage): void {
  const from = draft.state.stage.stageId;
  endThreads(draft, "stage_changed");
  emit(draft, { type: "beginStage", stage, inheritsMessages: initialMessages === null });
  recheckForced(draft, stage);
  update(draft, { stage, ...(initialState === null ? {} : { callState: initialState }) });
  if (initialMessages !== null) beginHistory(draft, initialMessages);
  noteUserActivity(draft);
  recordEvent(
    draft,
    {
      severity: "info",
      type: "stage.changed",
      text: "a new stage began",
      extras: { from, to: stage.stageId },
    },
    true,
  );
  warnOfStage(draft, stage);
}

/** Arguments of forced calls that wait were checked against the tools of the stage that ends. */
function recheckForced(draft: Draft, next: StagePlan): void {
  const { forced, stage } = draft.state;
  if (forced.length === 0) return;
  const takes = ({ tools }: StagePlan, name: string): string =>
    JSON.stringify(tools.find((tool) => tool.name === name)?.parameters ?? null);
  const checked = (call: ToolCall): ToolCall =>
    call.problem !== null || takes(stage, call.toolName) === takes(next, call.toolName)
      ? call
      : { ...call, problem: "the stage has changed, and its tools with it" };
  update(draft, { forced: forced.map((entry) => ({ ...entry, calls: entry.calls.map(checked) })) });
}
