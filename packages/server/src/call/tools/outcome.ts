/**
 * Advances tool calls as the state allows: begins them, and once a round is complete, applies its results.
 * Rules R44 and R48 of SPEC.md.
 */

import { MAIN_THREAD_ID, type Reaction } from "@parley/schema";
import { showState } from "../call-events.ts";
import { emit, updateReply, type Draft } from "../draft.ts";
import { agentState } from "../life/agent-state.ts";
import { hangUp } from "../life/ending.ts";
import { isHandingOver } from "../life/handing-over.ts";
import { isReplyDue, noteReplyDue, startReply } from "../reply/reply.ts";
import { endSoftly } from "../life/soft-end.ts";
import { deliverAll } from "../threads/deliver.ts";
import { beginNewStage, STAGE_LIMIT_MS } from "./stage.ts";
import { hangsUpStrictly, tonesOf } from "./built-in.ts";
import { dropUnheardFiller } from "./filler.ts";
import { announceCall, closeRound, setProgress, toolNamed } from "./round.ts";
import { beginCall } from "./run.ts";
import type { ToolAnswer, ToolCall, ToolRound } from "./tool-state.ts";

export function settleTools(draft: Draft): void {
  const { phase } = draft.state;
  if (phase.kind !== "live" && phase.kind !== "parting") return;
  if (phase.kind === "live") {
    holdToHangUp(draft);
    for (const call of draft.state.reply?.calls ?? []) beginEarly(draft, call);
    for (const call of draft.state.toolRound?.calls ?? []) advance(draft, call);
  }
  const { toolRound } = draft.state;
  if (toolRound?.calls.every(({ progress }) => progress.kind === "answered")) finishRound(draft, toolRound);
}

/** Speech can no longer cancel a reply with a strict hang-up in it. */
function holdToHangUp(draft: Draft): void {
  const { state } = draft;
  const { reply } = state;
  if (reply === null || !reply.committed || reply.uninterruptible || reply.playout === "cutting") return;
  if (reply.calls.some((call) => hangsUpStrictly(state, toolNamed(state, call.toolName), call)))
    updateReply(draft, { uninterruptible: true, heldBy: null });
}

/** A call that only computes need not wait for the speech, nor for the user's turn to end. */
function beginEarly(draft: Draft, call: ToolCall): void {
  const tool = toolNamed(draft.state, call.toolName);
  const settled = call.problem !== null || call.knownResult !== null;
  const builtIn = tool?.implementation.kind === "builtIn" && tool.implementation.builtIn !== "queryCorpus";
  if (isHandingOver(draft.state)) return;
  if (tool?.precomputable !== true || builtIn || settled || call.progress.kind !== "waiting") return;
  beginCall(draft, call, tool);
}

function advance(draft: Draft, call: ToolCall): void {
  const { state } = draft;
  const { invocationId, progress } = call;
  const tool = toolNamed(state, call.toolName);
  if (progress.kind === "waiting") {
    // The process that continues the call sends it.
    if (isHandingOver(state)) return;
    // Clients take an invocation as work of an agent that thinks already.
    showState(draft, agentState(state));
    if (tool !== null && call.problem === null && call.knownResult === null) announceCall(draft, call);
    beginCall(draft, call, tool);
    return;
  }
  if (progress.kind === "sounding" && progress.replyId === null && state.reply === null && tool !== null) {
    const tones = tonesOf(state, tool, call);
    const covers = state.inputs.answered;
    startReply(draft, { purpose: "tones", text: "", tones, uninterruptible: true, covers });
    setProgress(draft, invocationId, { kind: "sounding", replyId: draft.state.reply?.replyId ?? null });
    return;
  }
  if (progress.kind === "staging" && progress.deadlineAtMs === null) {
    const { document, onlyToolsOfCall } = progress;
    emit(draft, { type: "prepareStage", invocationId, document, from: state.stage, onlyToolsOfCall });
    setProgress(draft, invocationId, { ...progress, deadlineAtMs: state.clock.atMs + STAGE_LIMIT_MS });
  }
}

/** A hang-up wins over a new stage, and the last new stage over those before it. */
function finishRound(draft: Draft, round: ToolRound): void {
  const reacts = speaksAfter(draft, round);
  dropUnheardFiller(draft);
  const answers = closeRound(draft);
  if (draft.state.phase.kind !== "live") return;
  deliverAll(draft, answers, MAIN_THREAD_ID);
  const consequences = answers.flatMap(({ consequence }) => (consequence === null ? [] : [consequence]));
  const end = consequences.find(({ kind }) => kind === "hangUp");
  if (end?.kind === "hangUp") {
    if (end.strict) hangUp(draft, end.message, end.reason);
    else if (isReplyDue(draft.state)) noteReplyDue(draft);
    else endSoftly(draft, end.message);
    return;
  }
  const next = consequences.findLast(({ kind }) => kind === "newStage");
  if (next?.kind === "newStage") beginNewStage(draft, next);
  if (reacts) noteReplyDue(draft);
}

/** Several results request a reply if any of them does; one that failed always does. */
export function speaksAfter(draft: Draft, { calls, spoke }: ToolRound): boolean {
  return calls.some(({ toolName, progress }) => {
    if (progress.kind !== "answered") return false;
    const usual = toolNamed(draft.state, toolName)?.defaultReaction ?? "speaks";
    return speaks(progress.answer, usual, spoke);
  });
}

function speaks({ errorDetails, reaction }: ToolAnswer, usual: Reaction, spoke: boolean): boolean {
  if (errorDetails !== null) return true;
  const wanted = reaction ?? usual;
  return wanted === "speaks" || (wanted === "speaks-once" && !spoke);
}
