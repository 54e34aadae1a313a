/**
 * Messages that were recorded after the snapshot: the process ended between the two. They were said, so they belong to
 * the history. Rule R182 of SPEC.md.
 */

import { update, type Draft } from "../draft.ts";
import type { MessageRecord } from "../effects.ts";
import { append, bounded } from "../history/history.ts";
import { argumentsOf } from "../history/model-messages.ts";
import type { HistoryEntry } from "../history/history-state.ts";
import { noteInput, noteReplyDue } from "../reply/reply.ts";
import type { ToolCall } from "../tools/tool-state.ts";
import { UNKNOWN_ANSWER } from "./lost-tools.ts";

/** @param recorded messages of the snapshot's stage that are newer than it, in their order */
export function takeRecorded(draft: Draft, recorded: readonly MessageRecord[]): void {
  const { stage } = draft.state;
  for (const message of recorded) {
    if (message.stageId !== stage.stageId) continue;
    if (message.role === "user" || message.role === "agent") takeWords(draft, message);
    else takeToolMessage(draft, message);
  }
  answerOpenCalls(draft, recorded);
}

function takeWords(draft: Draft, message: MessageRecord): void {
  const { history, reply } = draft.state;
  const known = history.entries.find(({ index }) => index === message.index);
  if (known?.role === message.role && known.text === message.text) return;
  put(draft, message);
  if (message.role === "user") {
    noteInput(draft, {});
    return;
  }
  // An agent message is recorded when its reply is over.
  if (reply !== null) update(draft, { reply: null });
  const { inputs } = draft.state;
  update(draft, {
    inputs: { ...inputs, answered: inputs.received, answeredIndex: draft.state.history.nextIndex },
  });
}

function takeToolMessage(draft: Draft, message: MessageRecord): void {
  const { history, toolRound } = draft.state;
  if (history.entries.some(({ index }) => index === message.index)) return;
  put(draft, message);
  if (message.callState !== null) update(draft, { callState: message.callState });
  // Results are recorded when their round is over.
  if (message.role === "tool_result" && toolRound !== null) update(draft, { toolRound: null });
  const { reply } = draft.state;
  if (reply?.calls.some(({ invocationId }) => invocationId === message.invocationId) === true) {
    update(draft, { reply: { ...reply, calls: [] } });
  }
}

/** Calls that were recorded and have no result: whether they were made is not known. */
function answerOpenCalls(draft: Draft, recorded: readonly MessageRecord[]): void {
  const tools = recorded.filter(
    ({ stageId, role }) => stageId === draft.state.stage.stageId && isOfTool(role),
  );
  if (tools.length === 0) return;
  const answered = new Set(
    tools.filter(({ role }) => role === "tool_result").map(({ invocationId }) => invocationId),
  );
  const inRound = new Set(draft.state.toolRound?.calls.map(({ invocationId }) => invocationId));
  const calls = tools
    .filter(
      ({ role, invocationId }) =>
        role === "tool_call" && !answered.has(invocationId) && !inRound.has(invocationId ?? ""),
    )
    .map((message) => openCall(message));
  const last = Math.max(0, ...tools.map(({ invocationId }) => numberOf(invocationId)));
  const { ids } = draft.state;
  update(draft, { ids: { ...ids, invocation: Math.max(ids.invocation, last + 1) } });
  if (calls.length > 0) update(draft, { toolRound: { calls, spoke: false } });
  else if (draft.state.toolRound === null) noteReplyDue(draft);
}

function isOfTool(role: MessageRecord["role"]): boolean {
  return role === "tool_call" || role === "tool_result";
}

function openCall({ invocationId, toolName, text }: MessageRecord): ToolCall {
  return {
    invocationId: invocationId ?? "",
    toolName: toolName ?? "",
    arguments: argumentsOf(text),
    problem: null,
    knownResult: null,
    progress: { kind: "answered", answer: UNKNOWN_ANSWER },
    earlyFailure: null,
  };
}

/** The number at the end of an id that `newCall` has made. */
function numberOf(invocationId: string | null): number {
  const number = Number(/_(\d+)$/.exec(invocationId ?? "")?.[1] ?? 0);
  return Number.isSafeInteger(number) ? number : 0;
}

function put(draft: Draft, message: MessageRecord): void {
  const { history } = draft.state;
  const entry = entryOf(draft, message);
  const at = history.entries.findIndex(({ index }) => index === message.index);
  const known = history.entries[at];
  if (known === undefined) {
    update(draft, { history: bounded(append(history, entry)) });
    return;
  }
  update(draft, {
    history: bounded({
      ...history,
      entries: history.entries.with(at, entry),
      chars: history.chars + entry.text.length - known.text.length,
      version: history.version + 1,
    }),
  });
}

function entryOf(draft: Draft, message: MessageRecord): HistoryEntry {
  const { clock } = draft.state;
  const { index, role, text, medium, invocationId, toolName, metadata } = message;
  const { stageId, callState, timespan, wallClockTimespan } = message;
  return {
    index,
    role,
    text,
    medium,
    invocationId,
    toolName,
    startMediaMs: timespan?.startMs ?? clock.mediaMs,
    startAtMs: (wallClockTimespan?.startMs ?? 0) + (clock.joinedAtMs ?? 0),
    details: { stageId, callState, timespan, wallClockTimespan },
    ...(metadata["interrupted"] === "true" ? { interrupted: true as const } : {}),
  };
}
