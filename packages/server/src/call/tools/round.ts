/**
 * The round of tool calls that is open: its calls are recorded when it opens, each gets exactly one answer, and the
 * results are recorded together when it is complete. What a complete round leads to is for `outcome.ts`.
 * Rules R38 to R40, R43, R46, R47 and R50 of SPEC.md.
 */

import { recordEvent, send } from "../call-events.ts";
import { resultsRoomChars } from "../history/context-window.ts";
import { emit, update, updateReply, type Draft } from "../draft.ts";
import { addToolCalls, addToolResult, resultShare } from "../history/history.ts";
import type { CallState, Reply } from "../state.ts";
import type { ToolPlan } from "../../plan/tool-plan.ts";
import { threadCalls, withProgress } from "../threads/thread-state.ts";
import type { ToolAnswer, ToolCall, ToolFailure, ToolProgress } from "./tool-state.ts";
import { mergedState } from "./values.ts";

/** Ids of dropped calls whose late results are not faults; older ones count as unknown. */
const DROPPED_REMEMBERED = 64;
/** Rounds of tools without the user asking for anything. */
export const TOOL_ROUNDS_MAX = 16;
export const CALL_ENDED_FAILURE = "The tool failed: the call ended";

export const WAITING: ToolProgress = { kind: "waiting" };

export function toolNamed({ stage }: CallState, name: string): ToolPlan | null {
  return stage.tools.find((tool) => tool.name === name) ?? null;
}

/** Of the reply in the slot, of the open round, and of side threads. */
export function callsOf({ reply, toolRound, sideThreads }: CallState): readonly ToolCall[] {
  return [...(toolRound?.calls ?? []), ...(reply?.calls ?? []), ...threadCalls(sideThreads)];
}

export function findCall(state: CallState, invocationId: string): ToolCall | null {
  return callsOf(state).find((call) => call.invocationId === invocationId) ?? null;
}

export function setProgress(draft: Draft, invocationId: string, progress: ToolProgress): void {
  const changed = (calls: readonly ToolCall[]) =>
    calls.map((call) => (call.invocationId === invocationId ? { ...call, progress } : call));
  const { toolRound, reply, sideThreads } = draft.state;
  if (toolRound !== null) update(draft, { toolRound: { ...toolRound, calls: changed(toolRound.calls) } });
  if (sideThreads.list.length > 0)
    update(draft, { sideThreads: withProgress(sideThreads, invocationId, progress) });
  if (reply !== null && reply.calls.length > 0) updateReply(draft, { calls: changed(reply.calls) });
}

/** Sets the only answer of a call; later answers are dropped. */
export function answerCall(draft: Draft, invocationId: string, answer: ToolAnswer): void {
  setProgress(draft, invocationId, { kind: "answered", answer });
}

export interface Failure extends ToolFailure {
  readonly errorDetails: string;
}

export function failCall(draft: Draft, call: ToolCall, failure: Failure): void {
  const { text, errorDetails } = failure;
  noteToolFailure(draft, call, failure);
  answerCall(draft, call.invocationId, {
    text,
    errorDetails,
    reaction: "speaks",
    stateChanges: null,
    consequence: null,
  });
}

type Failed = Pick<ToolCall, "invocationId" | "toolName">;

/** The failure of a call that may still be dropped unrecorded waits until the call counts. */
export function noteToolFailure(draft: Draft, failed: Failed, { cause, text }: ToolFailure): void {
  const calls = draft.state.reply?.calls ?? [];
  const isIt = ({ invocationId }: ToolCall) => invocationId === failed.invocationId;
  const earlyFailure = { cause, text };
  if (calls.some(isIt))
    updateReply(draft, { calls: calls.map((call) => (isIt(call) ? { ...call, earlyFailure } : call)) });
  else recordToolFailure(draft, failed, earlyFailure);
}

function recordToolFailure(
  draft: Draft,
  { invocationId, toolName }: Failed,
  { cause, text }: ToolFailure,
): void {
  const type = cause === "timeout" ? "tool.timeout" : "tool.failed";
  recordEvent(draft, {
    severity: "warning",
    type,
    text: `${toolName}: ${text}`,
    extras: { toolName, invocationId },
  });
  emit(draft, { type: "recordToolError", stageId: draft.state.stage.stageId, toolName });
}

/** The speech of a generation is over, and its calls count from now on. */
export function openRound(draft: Draft, calls: readonly ToolCall[], spoke: boolean): void {
  if (calls.length === 0) return;
  const { inputs } = draft.state;
  addToolCalls(draft, calls);
  const toolRounds = inputs.toolRounds + 1;
  update(draft, { toolRound: { calls, spoke }, inputs: { ...inputs, toolRounds } });
  if (toolRounds === TOOL_ROUNDS_MAX) {
    const text = `${TOOL_ROUNDS_MAX} rounds of tools without the user: no tools are offered until the user asks for something`;
    recordEvent(draft, { severity: "warning", type: "llm.failed", text });
  }
  // Calls begun early were not announced, because they could still have been dropped unrecorded.
  for (const call of calls) {
    if (call.progress.kind !== "waiting") announceCall(draft, call);
    if (call.earlyFailure !== null) recordToolFailure(draft, call, call.earlyFailure);
  }
}

export function announceCall(draft: Draft, call: ToolCall): void {
  send(draft, "invokingTool", { type: "invoking_tool", ...shown(call) });
}

function shown({ toolName, invocationId, arguments: parameters }: ToolCall) {
  return { toolName, invocationId, parameters: { ...parameters } };
}

/** Calls count once the speech of their generation was heard to its end; forced ones also when it was cut. */
export function callsStand({ cutBy, generation, purpose }: Reply): boolean {
  if (cutBy === null) return generation !== "failed";
  return purpose === "forced" && cutBy !== "end";
}

/** Handles the calls of a reply that is over. */
export function passCalls(draft: Draft, reply: Reply): void {
  if (reply.purpose === "tones") finishTones(draft, reply);
  else if (callsStand(reply)) openRound(draft, reply.calls, reply.begun);
  else dropCalls(draft, reply);
}

/** Drops, unrecorded, the calls of a reply that is dropped or cut before its speech was over. */
export function dropCalls(draft: Draft, { calls }: Reply): void {
  if (calls.length === 0) return;
  const ids = calls.map(({ invocationId }) => invocationId);
  const { unawaitedTools } = draft.state;
  const isUnawaited = (id: string) => unawaitedTools.some(({ invocationId }) => invocationId === id);
  for (const { invocationId, progress } of calls) {
    if (progress.kind === "running" || isUnawaited(invocationId))
      emit(draft, { type: "abortTool", invocationId });
  }
  rememberDropped(draft, ids);
  update(draft, {
    unawaitedTools: unawaitedTools.filter(({ invocationId }) => !ids.includes(invocationId)),
  });
  if (draft.state.reply !== null) updateReply(draft, { calls: [] });
}

/** Late results of these calls are no faults. */
export function rememberDropped(draft: Draft, ids: readonly string[]): void {
  if (ids.length === 0) return;
  update(draft, { droppedCalls: [...draft.state.droppedCalls, ...ids].slice(-DROPPED_REMEMBERED) });
}

/** The reply of a call to make tones is over. */
export function finishTones(draft: Draft, { replyId, cutBy, segments }: Reply): void {
  const call = draft.state.toolRound?.calls.find(
    ({ progress }) => progress.kind === "sounding" && progress.replyId === replyId,
  );
  if (call === undefined) return;
  if (cutBy === null && segments.every(({ silent }) => !silent)) {
    answerCall(draft, call.invocationId, plainAnswer("OK"));
    return;
  }
  if (cutBy === "end") return;
  const text = "The tool failed: the tones could not be played";
  failCall(draft, call, { cause: "error", text, errorDetails: "the voice or the playout failed" });
}

export function plainAnswer(text: string): ToolAnswer {
  return { text, errorDetails: null, reaction: null, stateChanges: null, consequence: null };
}

/** Records the results of a complete round, merges what they change, and closes it. Returns its answers in order. */
export function closeRound(draft: Draft): readonly ToolAnswer[] {
  const calls = draft.state.toolRound?.calls ?? [];
  const answers: ToolAnswer[] = [];
  const share = resultShare(
    calls.map(({ progress }) => (progress.kind === "answered" ? progress.answer.text.length : 0)),
    resultsRoomChars(draft.state),
  );
  for (const call of calls) {
    if (call.progress.kind !== "answered") continue;
    const { answer } = call.progress;
    answers.push(answer);
    const changed = changeCallState(draft, call, answer.stateChanges);
    addToolResult(draft, call, answer, changed ? draft.state.callState : null, share);
    announceResult(draft, call, answer);
  }
  update(draft, { toolRound: null });
  return answers;
}

export function announceResult(draft: Draft, call: ToolCall, { text, errorDetails }: ToolAnswer): void {
  const details = errorDetails === null ? {} : { errorDetails };
  send(draft, "toolUsed", { type: "tool_used", ...shown(call), result: text, ...details });
}

/** Whether the state of the call is another now; a change beyond its limit is refused, the result still counts. */
function changeCallState(draft: Draft, call: ToolCall, changes: ToolAnswer["stateChanges"]): boolean {
  const callState = changedState(draft, draft.state.callState, call, changes);
  if (callState === null) return false;
  update(draft, { callState });
  return true;
}

/** The state with the changes of a result; null: it stays as it is. */
export function changedState(
  draft: Draft,
  before: CallState["callState"],
  call: ToolCall,
  changes: ToolAnswer["stateChanges"],
): CallState["callState"] | null {
  if (changes === null) return null;
  const callState = mergedState(before, changes);
  if (callState === null)
    noteToolFailure(draft, call, { cause: "error", text: "the state of the call would exceed 64 KiB" });
  return callState;
}

/** The call ends: results that have arrived are recorded, the rest is given up. */
export function breakOffRound(draft: Draft): void {
  for (const { invocationId, progress } of draft.state.toolRound?.calls ?? []) {
    if (progress.kind === "answered") continue;
    if (progress.kind === "running") emit(draft, { type: "abortTool", invocationId });
    const ended = { text: CALL_ENDED_FAILURE, errorDetails: "the call ended before the tool answered" };
    answerCall(draft, invocationId, { ...ended, reaction: null, stateChanges: null, consequence: null });
  }
  if (draft.state.toolRound !== null) closeRound(draft);
  for (const { invocationId } of draft.state.unawaitedTools) emit(draft, { type: "abortTool", invocationId });
  update(draft, { unawaitedTools: [] });
}
