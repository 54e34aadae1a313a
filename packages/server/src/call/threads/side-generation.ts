/** Generations of side threads. Rules R119 to R121 and R128 to R131 of SPEC.md. */

import { MAX_DATA_MESSAGE_BYTES } from "@parley/schema";
import { debug, recordEvent } from "../call-events.ts";
import { emit, update, type Draft } from "../draft.ts";
import type { ReplyRequest } from "../effects.ts";
import type { EventOf } from "../events.ts";
import { requestChars, windowOf } from "../history/context-window.ts";
import { withoutMarks } from "../history/model-messages.ts";
import { BEGIN_STAGE_INSTRUCTION, CARRY_ON_INSTRUCTION, offered } from "../reply/reply.ts";
import type { CallState } from "../state.ts";
import type { WantedTimers } from "../timers.ts";
import { TOOL_ROUNDS_MAX } from "../tools/round.ts";
import { CALLS_PER_REPLY, newCall } from "../tools/use.ts";
import { utf8Length } from "../tools/values.ts";
import type { ToolCall } from "../tools/tool-state.ts";
import { endThread } from "./end-threads.ts";
import { sendOfThread, updateThread } from "./thread-draft.ts";
import { withMessage } from "./thread-history.ts";
import { SIDE_ATTEMPTS_MAX, SIDE_CALLS_MAX, SIDE_SILENCE_LIMIT_MS } from "./thread-limits.ts";
import type { SideGeneration, SideThread, ThreadLimits } from "./thread-state.ts";
import { countTokens, estimatedTokens } from "./thread-tokens.ts";

/** Starts the generation that is due, or ends a thread that may have no more. */
export function startGeneration(draft: Draft, thread: SideThread): void {
  const { threadId, used, limits } = thread;
  const mayCall = draft.state.stage.tools.length > 0 && thread.toolRounds < TOOL_ROUNDS_MAX;
  const request = requestOf(draft.state, thread, mayCall);
  const chars = requestChars(request);
  const inputTokens = estimatedTokens(draft.state, chars);
  if (used.generations >= limits.generationLimit) reachLimit(draft, thread, "generationLimit");
  else if (used.outputTokens >= limits.threadOutputTokenLimit)
    reachLimit(draft, thread, "threadOutputTokenLimit");
  else if (used.inputTokens + inputTokens > limits.threadFuzzyInputTokenLimit)
    reachLimit(draft, thread, "threadFuzzyInputTokenLimit");
  else if (inputTokens > limits.generationFuzzyInputTokenLimit)
    reachLimit(draft, thread, "generationFuzzyInputTokenLimit");
  else {
    const { clock, sideThreads } = draft.state;
    const generationId = sideThreads.nextGenerationId;
    update(draft, { sideThreads: { ...sideThreads, nextGenerationId: generationId + 1 } });
    const checkAtMs = clock.atMs + SIDE_SILENCE_LIMIT_MS;
    const times = { lastSignAtMs: clock.atMs, checkAtMs };
    updateThread(draft, threadId, {
      due: false,
      generation: { generationId, text: "", calls: [], mayCall, requestChars: chars, ...times },
      used: { ...used, generations: used.generations + 1 },
    });
    debug(draft, `thread ${threadId}: generation ${generationId} started`);
    emit(draft, { type: "generateSide", generationId, threadId, request });
  }
}

/** All tools of the stage, also those that the thread may not call: a shorter list would cost the model's cache. */
function requestOf(state: CallState, { history }: SideThread, mayCall: boolean): ReplyRequest {
  const { model, temperature, systemPrompt, languageHint, tools } = state.stage;
  const last = history.entries.at(-1);
  const asks = last?.role === "user" || last?.role === "tool_result";
  const carryOn = last === undefined ? BEGIN_STAGE_INSTRUCTION : CARRY_ON_INSTRUCTION;
  const request: ReplyRequest = {
    model,
    temperature,
    systemPrompt,
    messages: [],
    instruction: asks ? null : carryOn,
    languageHint,
    tools: mayCall ? tools.map(offered) : [],
  };
  return { ...request, messages: windowOf(state, request, history).messages };
}

function reachLimit(draft: Draft, { threadId, limits }: SideThread, limit: keyof ThreadLimits): void {
  const value = limits[limit];
  const text = `the thread ${threadId} has reached its limit: ${limit} ${value}`;
  endThread(draft, threadId, "limit_reached", text, { limit, value });
}

interface Generating {
  readonly thread: SideThread;
  readonly generation: SideGeneration;
}

/** Null: it is no longer awaited. */
function generating({ sideThreads }: CallState, generationId: number): Generating | null {
  for (const thread of sideThreads.list) {
    const { generation } = thread;
    if (generation?.generationId === generationId) return { thread, generation };
  }
  return null;
}

export function onSideText(draft: Draft, { generationId, text }: EventOf<"sideTextReceived">): void {
  const found = generating(draft.state, generationId);
  if (found === null || text === "") return;
  const { thread, generation } = found;
  const { threadId } = thread;
  const whole = generation.text + text;
  const lastSignAtMs = draft.state.clock.atMs;
  const changed = updateThread(draft, threadId, { generation: { ...generation, text: whole, lastSignAtMs } });
  if (estimatedTokens(draft.state, whole.length) > thread.limits.generationOutputTokenLimit) {
    reachLimit(draft, changed, "generationOutputTokenLimit");
    return;
  }
  sendOfThread(draft, { type: "side_generation_delta", threadId, delta: text });
}

export function onSideToolCalled(
  draft: Draft,
  { generationId, call, problem }: EventOf<"sideToolCalled">,
): void {
  const found = generating(draft.state, generationId);
  if (found === null) return;
  const { generation } = found;
  const { threadId } = found.thread;
  if (!generation.mayCall || generation.calls.length >= CALLS_PER_REPLY) {
    const why = generation.mayCall ? `more than ${CALLS_PER_REPLY} in one generation` : "no tool was offered";
    const text = `a tool call of the thread ${threadId} was dropped: ${why}`;
    recordEvent(draft, { severity: "warning", type: "tool.failed", text, extras: { threadId } });
    return;
  }
  const made = sideCall(draft, { toolName: call.name, arguments: call.arguments, problem });
  const lastSignAtMs = draft.state.clock.atMs;
  const calls = [...generation.calls, made];
  updateThread(draft, threadId, { generation: { ...generation, calls, lastSignAtMs } });
}

/** A call of a thread. Those beyond the limit of the call have failed before they begin. */
export function sideCall(
  draft: Draft,
  made: Pick<ToolCall, "toolName" | "arguments" | "problem"> & { readonly knownResult?: string | null },
): ToolCall {
  const { sideThreads } = draft.state;
  const toolCalls = sideThreads.toolCalls + 1;
  update(draft, { sideThreads: { ...sideThreads, toolCalls } });
  const tooMany = toolCalls > SIDE_CALLS_MAX ? "the threads of this call have called too many tools" : null;
  const { toolName, arguments: given, problem, knownResult = null } = made;
  return newCall(draft, { toolName, arguments: given, problem: problem ?? tooMany, knownResult });
}

export function onSideFinished(draft: Draft, event: EventOf<"sideTextFinished">): void {
  const found = generating(draft.state, event.generationId);
  if (found === null) return;
  const { thread, generation } = found;
  const { threadId } = thread;
  const { calls, generationId } = generation;
  const text = withoutMarks(generation.text).trim();
  const written = generation.text.length + calls.reduce((sum, call) => sum + argumentsText(call).length, 0);
  const inputTokens = event.inputTokens ?? estimatedTokens(draft.state, generation.requestChars);
  const outputTokens = event.outputTokens ?? estimatedTokens(draft.state, written);
  countTokens(draft, threadId, { inputTokens, outputTokens });
  recordEvent(draft, {
    severity: "info",
    type: "side_generation.completed",
    text: `a generation of the thread ${threadId} was completed`,
    extras: { threadId, generationId, inputTokens, outputTokens, toolCalls: calls.length },
  });
  sendOfThread(draft, completedMessage(threadId, text, calls));
  let { history } = thread;
  if (text !== "") history = withMessage(draft.state, history, { role: "agent", text });
  for (const call of calls) {
    history = withMessage(draft.state, history, { role: "tool_call", text: argumentsText(call), call });
  }
  const round = calls.length === 0 ? null : { calls, spoke: text !== "", borrowed: false };
  const toolRounds = thread.toolRounds + (round === null ? 0 : 1);
  if (round !== null && toolRounds === TOOL_ROUNDS_MAX) noteToolRounds(draft, threadId);
  const done = { generation: null, failures: 0 };
  const changed = updateThread(draft, threadId, { ...done, history, round, toolRounds });
  if (outputTokens > thread.limits.generationOutputTokenLimit)
    reachLimit(draft, changed, "generationOutputTokenLimit");
}

function noteToolRounds(draft: Draft, threadId: string): void {
  const text = `${TOOL_ROUNDS_MAX} rounds of tools in the thread ${threadId}: no tools are offered until it is sent a message`;
  recordEvent(draft, { severity: "warning", type: "tool.failed", text, extras: { threadId } });
}

export function argumentsText(call: Pick<ToolCall, "arguments">): string {
  return JSON.stringify(call.arguments);
}

/** Arguments that do not fit into a data message are left out. */
function completedMessage(threadId: string, text: string, calls: readonly ToolCall[]) {
  const message = (whole: boolean) => ({
    type: "side_generation_completed" as const,
    threadId,
    text,
    toolCalls: calls.map(({ invocationId, toolName, arguments: given }) => {
      return { id: invocationId, name: toolName, arguments: whole ? { ...given } : {} };
    }),
  });
  const complete = message(true);
  return utf8Length(JSON.stringify(complete)) > MAX_DATA_MESSAGE_BYTES ? message(false) : complete;
}

export function onSideFailed(draft: Draft, event: EventOf<"sideGenerationFailed">): void {
  const found = generating(draft.state, event.generationId);
  if (found !== null) fail(draft, found, event.error, event.permanent === true);
}

/** What clients have seen of a generation is not generated again. */
function fail(draft: Draft, { thread, generation }: Generating, error: string, permanent: boolean): void {
  const { threadId } = thread;
  const failures = thread.failures + 1;
  const { generationId, requestChars: chars, text, calls } = generation;
  recordEvent(draft, {
    severity: "warning",
    type: "side_generation.failed",
    text: `a generation of the thread ${threadId} failed: ${error}`,
    extras: { threadId, generationId, attempt: failures },
  });
  const isSeen = text !== "" || calls.length > 0;
  if (isSeen) {
    const inputTokens = estimatedTokens(draft.state, chars);
    countTokens(draft, threadId, { inputTokens, outputTokens: estimatedTokens(draft.state, text.length) });
  }
  updateThread(draft, threadId, { generation: null });
  if (permanent || isSeen || failures >= SIDE_ATTEMPTS_MAX) {
    endThread(draft, threadId, "failed", `the thread ${threadId} has failed: ${error}`);
    return;
  }
  const { clock, plan } = draft.state;
  const retryAtMs = clock.atMs + plan.turnTaking.engineRetryDelayMs * 2 ** (failures - 1);
  updateThread(draft, threadId, { due: true, failures, retryAtMs });
}

/** One timer for whatever is checked next. */
export function threadTimers({ sideThreads, phase, clock }: CallState): WantedTimers {
  if (phase.kind !== "live" && phase.kind !== "parting") return {};
  const times = sideThreads.list.flatMap(({ generation, due, round, retryAtMs }) => {
    if (generation !== null) return [generation.checkAtMs];
    const isAhead = due && round === null && retryAtMs > clock.atMs;
    return isAhead && phase.kind === "live" ? [retryAtMs] : [];
  });
  if (times.length === 0) return {};
  const first = Math.min(...times);
  return { thread: { key: `${first}`, delayMs: first - clock.atMs } };
}

/** Retries begin by themselves once their time has come. */
export function onThreadTimer(draft: Draft): void {
  const { clock, sideThreads } = draft.state;
  for (const thread of sideThreads.list) {
    const { generation, threadId } = thread;
    if (generation === null || generation.checkAtMs > clock.atMs) continue;
    const nextMs = generation.lastSignAtMs + SIDE_SILENCE_LIMIT_MS;
    if (nextMs > clock.atMs) {
      updateThread(draft, threadId, { generation: { ...generation, checkAtMs: nextMs } });
      continue;
    }
    emit(draft, { type: "abortSide", generationId: generation.generationId });
    fail(draft, { thread, generation }, `nothing for ${SIDE_SILENCE_LIMIT_MS} ms`, false);
  }
}
