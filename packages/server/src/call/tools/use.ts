/**
 * Tools during a call: what the model calls, and the results as they come in.
 * Rules R37 and R41 to R43 of SPEC.md.
 */

import { debug, recordEvent } from "../call-events.ts";
import { emit, nextId, update, updateReply, type Draft } from "../draft.ts";
import { DEFAULT_CLIENT_MESSAGES, parseSendToThread, type ToolOutcome } from "@parley/schema";
import type { EventOf } from "../events.ts";
import { levelOf } from "../life/message-rights.ts";
import { generating } from "../reply/reply.ts";
import type { CallState } from "../state.ts";
import type { ToolResultMessage } from "./awaited.ts";
import { STAGE_LIMIT_MS } from "./stage.ts";
import { refuseCallChange } from "../threads/call-change.ts";
import { threadOfCall } from "../threads/thread-state.ts";
import type { WantedTimers } from "../timers.ts";
import {
  answerCall,
  callsOf,
  failCall,
  findCall,
  noteToolFailure,
  setProgress,
  toolNamed,
  WAITING,
} from "./round.ts";
import { leaveMessage } from "./built-in.ts";
import { failed, timedOut } from "./run.ts";
import { timeLimitOf } from "./transfers.ts";
import type { ToolCall, ToolConsequence } from "./tool-state.ts";

/** Calls of one generation; a model that makes more is caught in a loop. */
export const CALLS_PER_REPLY = 16;
/** Characters of one result that the model sees. */
export const RESULT_MAX_CHARS = 64 * 1024;
const RESULT_CUT_NOTICE = "\n[The rest was cut.]";

/** A call with an id of its own; the number is never used twice in a call, so the id is globally unique. */
export function newCall(
  draft: Draft,
  made: Pick<ToolCall, "toolName" | "arguments" | "problem" | "knownResult">,
): ToolCall {
  const callId = draft.state.plan.callId.replaceAll("-", "");
  const invocationId = `call_${callId}_${nextId(draft, "invocation")}`;
  const { toolName, problem, knownResult } = made;
  return {
    invocationId,
    toolName,
    arguments: made.arguments,
    problem,
    knownResult,
    progress: WAITING,
    earlyFailure: null,
  };
}

export function onToolCalled(draft: Draft, { replyId, call, problem }: EventOf<"replyToolCalled">): void {
  const reply = generating(draft, replyId);
  if (reply === null) return;
  const { clock } = draft.state;
  // A sign of life like text.
  updateReply(draft, { textPieces: reply.textPieces + 1, lastTextAtMs: clock.atMs });
  if (!reply.mayCall || reply.calls.length >= CALLS_PER_REPLY) {
    const why = reply.mayCall ? `more than ${CALLS_PER_REPLY} in one reply` : "no tool was offered";
    recordEvent(draft, { severity: "warning", type: "llm.failed", text: `a tool call was dropped: ${why}` });
    return;
  }
  const made = newCall(draft, { toolName: call.name, arguments: call.arguments, problem, knownResult: null });
  debug(draft, `reply ${replyId}: calls ${call.name}`);
  updateReply(draft, { calls: [...reply.calls, made] });
}

export function onToolFinished(draft: Draft, event: EventOf<"toolFinished">): void {
  const { invocationId, outcome, problems = [] } = event;
  takeResult(draft, invocationId, ["http", "mcp", "builtIn"], outcome, { problems, onlyToolsOfCall: false });
}

/** What a result may bring about. */
interface ResultTerms {
  /** For each tool call of the message that it sends why it cannot be carried out, or null. */
  readonly problems: readonly (string | null)[];
  /** A stage that it begins may have no tools but those that the call already had. */
  readonly onlyToolsOfCall: boolean;
}

/** A result from the client, by REST or over the data connection; each answers only its own requests. */
export function onToolResult(
  draft: Draft,
  message: ToolResultMessage,
  source: EventOf<"dataMessageReceived">["source"],
  problems: readonly (string | null)[],
): void {
  const kind = message.type === "client_tool_result" ? "client" : "dataConnection";
  const limited = levelOf(draft.state.plan, "client") !== DEFAULT_CLIENT_MESSAGES;
  const onlyToolsOfCall = limited && source !== "api";
  takeResult(draft, message.invocationId, [kind], outcomeOf(message), { problems, onlyToolsOfCall });
}

/** The data connection is lost: requests sent over it will not be answered. */
export function failDataConnectionCalls(draft: Draft): void {
  for (const call of callsOf(draft.state)) {
    const kind = toolNamed(draft.state, call.toolName)?.implementation.kind;
    if (kind !== "dataConnection" || call.progress.kind !== "running") continue;
    failCall(draft, call, failed("the data connection was lost"));
  }
}

function outcomeOf(message: ToolResultMessage): ToolOutcome {
  const { result, responseType, agentReaction, errorType, errorMessage, updateCallState } = message;
  if (errorType === undefined) {
    const reaction = agentReaction ?? null;
    return { kind: "completed", result, responseType, reaction, updateCallState: updateCallState ?? null };
  }
  const why = errorType === "undefined" ? "there is no such tool" : "an error in the tool";
  return { ...failed(why, errorMessage ?? why), kind: "failed" };
}

function takeResult(
  draft: Draft,
  invocationId: string,
  kinds: readonly string[],
  outcome: ToolOutcome,
  terms: ResultTerms,
): void {
  const { state } = draft;
  const unawaited = state.unawaitedTools.find((tool) => tool.invocationId === invocationId);
  if (unawaited !== undefined) {
    update(draft, { unawaitedTools: state.unawaitedTools.filter((tool) => tool !== unawaited) });
    if (outcome.kind === "failed") noteToolFailure(draft, unawaited, outcome);
    return;
  }
  const call = findCall(state, invocationId);
  const kind = call === null ? null : toolNamed(state, call.toolName)?.implementation.kind;
  if (call?.progress.kind !== "running" || kind === undefined || kind === null || !kinds.includes(kind)) {
    if (!state.droppedCalls.includes(invocationId)) noteUnexpected(draft, invocationId);
    return;
  }
  if (outcome.kind === "failed") failCall(draft, call, outcome);
  else takeCompleted(draft, call, outcome, terms);
}

function noteUnexpected(draft: Draft, invocationId: string): void {
  recordEvent(draft, {
    severity: "warning",
    type: "tool.failed",
    text: "a tool result was dropped: nothing was waiting for it",
    extras: { invocationId: invocationId.slice(0, 100) },
  });
}

function takeCompleted(
  draft: Draft,
  call: ToolCall,
  outcome: Extract<ToolOutcome, { readonly kind: "completed" }>,
  { problems, onlyToolsOfCall }: ResultTerms,
): void {
  const { invocationId } = call;
  const { result, responseType, reaction, updateCallState: stateChanges } = outcome;
  const thread = threadOfCall(draft.state.sideThreads, invocationId);
  if (thread !== null && (responseType === "hang-up" || responseType === "new-stage")) {
    const what = responseType === "hang-up" ? "end the call" : "begin a stage";
    refuseCallChange(draft, call, thread.threadId, what);
    return;
  }
  switch (responseType) {
    case "tool-response":
      answerCall(draft, invocationId, {
        text: resultText(result),
        errorDetails: null,
        reaction,
        stateChanges,
        consequence: null,
      });
      return;
    case "hang-up": {
      const consequence = hangUpOf(result);
      if (consequence === null)
        failCall(draft, call, failed("its hang-up could not be read", result.slice(0, 1_000)));
      else {
        const text = resultText(result);
        answerCall(draft, invocationId, { text, errorDetails: null, reaction, stateChanges, consequence });
      }
      return;
    }
    case "new-stage":
      setProgress(draft, invocationId, {
        kind: "staging",
        document: result,
        onlyToolsOfCall,
        reaction,
        stateChanges,
        deadlineAtMs: null,
      });
      return;
    case "send-to-thread": {
      const parsed = parseSendToThread(result);
      if (!parsed.ok) {
        failCall(draft, call, failed("its message to a thread could not be read", parsed.detail));
        return;
      }
      const { message } = parsed;
      const consequence = { kind: "sendToThread", message, problems } as const;
      const text = resultText(parsed.resultText);
      answerCall(draft, invocationId, { text, errorDetails: null, reaction, stateChanges, consequence });
    }
  }
}

/** An empty answer is a success. */
export function resultText(result: string): string {
  if (result.trim() === "") return "OK";
  return result.length > RESULT_MAX_CHARS ? result.slice(0, RESULT_MAX_CHARS) + RESULT_CUT_NOTICE : result;
}

/** Null: not `{strict?, message?}`. Nothing at all is a strict hang-up without a message. */
function hangUpOf(result: string): ToolConsequence | null {
  const body = result.trim();
  if (body === "" || body === "OK") return { kind: "hangUp", strict: true, message: "", reason: null };
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const strict = "strict" in value ? (value.strict ?? true) : true;
  const message = "message" in value ? (value.message ?? "") : "";
  if (typeof strict !== "boolean" || typeof message !== "string") return null;
  return { kind: "hangUp", strict, message, reason: null };
}

/** One timer for the earliest deadline; it is set again when that changes. */
export function toolTimers(state: CallState): WantedTimers {
  if (state.phase.kind !== "live" && state.phase.kind !== "parting") return {};
  const deadlines = [
    ...callsOf(state).flatMap(({ progress }) => deadlineOf(progress) ?? []),
    ...state.unawaitedTools.map(({ deadlineAtMs }) => deadlineAtMs),
  ];
  if (deadlines.length === 0) return {};
  const first = Math.min(...deadlines);
  return { tool: { key: `${first}`, delayMs: first - state.clock.atMs } };
}

function deadlineOf(progress: ToolCall["progress"]): number | null {
  const { kind } = progress;
  const isTimed = kind === "running" || kind === "staging" || kind === "awaitingBeep";
  return isTimed ? progress.deadlineAtMs : null;
}

export function onToolTimer(draft: Draft): void {
  const { state } = draft;
  const isOver = (deadlineAtMs: number | null) => deadlineAtMs !== null && deadlineAtMs <= state.clock.atMs;
  for (const call of callsOf(state)) {
    if (!isOver(deadlineOf(call.progress))) continue;
    const { kind } = call.progress;
    const tool = toolNamed(state, call.toolName);
    if (kind === "awaitingBeep" && tool !== null) {
      leaveMessage(draft, call, tool);
      continue;
    }
    const usualMs = tool === null ? 0 : timeLimitOf(tool);
    if (kind === "running") emit(draft, { type: "abortTool", invocationId: call.invocationId });
    failCall(draft, call, timedOut(kind === "staging" ? STAGE_LIMIT_MS : usualMs));
  }
  for (const tool of state.unawaitedTools.filter(({ deadlineAtMs }) => isOver(deadlineAtMs))) {
    noteToolFailure(draft, tool, timedOut(toolNamed(state, tool.toolName)?.timeoutMs ?? 0));
  }
  const unawaitedTools = state.unawaitedTools.filter(({ deadlineAtMs }) => !isOver(deadlineAtMs));
  if (unawaitedTools.length < state.unawaitedTools.length) update(draft, { unawaitedTools });
}
