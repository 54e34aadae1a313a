/**
 * Starts the tool calls of a round, and those that need not wait for one, each where it runs.
 * Rules R42 and R45 of SPEC.md.
 */

import { formatDurationMs, MAX_DATA_MESSAGE_BYTES, type ServerDataMessage } from "@parley/schema";
import { sendToClient, sendToDataConnection } from "../call-events.ts";
import { isDataConnectionOpen } from "../life/data-connection.ts";
import { emit, update, type Draft } from "../draft.ts";
import type { Failure } from "./round.ts";
import type { ToolImplementation, ToolPlan } from "../../plan/tool-plan.ts";
import { answerCall, failCall, noteToolFailure, plainAnswer, setProgress } from "./round.ts";
import type { ToolCall } from "./tool-state.ts";
import { runBuiltIn, runsHere } from "./built-in.ts";
import { timeLimitOf } from "./transfers.ts";
import { knownFor, parametersOf, utf8Length, valuesFor } from "./values.ts";

/** The adapter of a request times out by itself and knows more; this counts only when the adapter stays silent. */
export const ADAPTER_SLACK_MS = 1_000;
/** Invocations beside a static response that are still out; more than this is a fault of the tool. */
export const UNAWAITED_TOOLS_MAX = 64;

type Reached = Extract<ToolImplementation, { readonly kind: "http" | "mcp" | "builtIn" }>;

export function failed(why: string, errorDetails = why): Failure {
  return { cause: "error", text: `The tool failed: ${why}`, errorDetails };
}

export function timedOut(timeoutMs: number): Failure {
  const text = `The tool failed: timeout after ${formatDurationMs(timeoutMs)}`;
  return { cause: "timeout", text, errorDetails: `no answer within ${formatDurationMs(timeoutMs)}` };
}

/** Begins a call that waits. It is invoked at most once, whatever its result. */
export function beginCall(draft: Draft, call: ToolCall, tool: ToolPlan | null): void {
  if (call.knownResult !== null) answerCall(draft, call.invocationId, plainAnswer(call.knownResult));
  else if (call.problem !== null) failCall(draft, call, failed(call.problem));
  else if (tool === null) failCall(draft, call, failed("there is no such tool"));
  else if (tool.implementation.kind === "builtIn" && runsHere(tool.implementation.builtIn))
    runBuiltIn(draft, call, tool, tool.implementation.builtIn);
  else invoke(draft, call, tool);
}

function invoke(draft: Draft, call: ToolCall, tool: ToolPlan): void {
  const { invocationId, toolName } = call;
  const { staticResponse } = tool;
  const { refused, limitMs } = sendOff(draft, call, tool);
  if (staticResponse === null) {
    if (refused === null) setProgress(draft, invocationId, { kind: "running", deadlineAtMs: limitMs });
    else failCall(draft, call, refused);
    return;
  }
  answerCall(draft, invocationId, plainAnswer(staticResponse));
  if (refused !== null) noteToolFailure(draft, call, refused);
  else if (tool.implementation.kind !== "static") {
    const unawaited = [...draft.state.unawaitedTools, { invocationId, toolName, deadlineAtMs: limitMs }];
    update(draft, { unawaitedTools: unawaited.slice(-UNAWAITED_TOOLS_MAX) });
  }
}

interface SentOff {
  /** Why nothing was sent, or null. */
  readonly refused: Failure | null;
  /** `atMs` by which an answer must arrive. */
  readonly limitMs: number;
}

function sendOff(draft: Draft, call: ToolCall, tool: ToolPlan): SentOff {
  const { implementation } = tool;
  const limitMs = draft.state.clock.atMs + timeLimitOf(tool);
  const { kind } = implementation;
  if (kind === "static") return { refused: null, limitMs };
  if (kind === "client" || kind === "dataConnection")
    return { refused: sendInvocation(draft, call, tool, kind), limitMs };
  request(draft, call, tool, implementation);
  return { refused: null, limitMs: limitMs + ADAPTER_SLACK_MS };
}

function request(draft: Draft, call: ToolCall, tool: ToolPlan, implementation: Reached): void {
  const { invocationId, toolName } = call;
  const values = valuesFor(knownFor(draft.state, invocationId), tool, call.arguments);
  const timeoutMs = timeLimitOf(tool);
  emit(draft, {
    type: "invokeTool",
    invocation: { invocationId, toolName, implementation, values, timeoutMs },
  });
}

/** Null: it was sent. Otherwise no connection was open. */
function sendInvocation(
  draft: Draft,
  { invocationId, toolName, arguments: given }: ToolCall,
  tool: ToolPlan,
  to: "client" | "dataConnection",
): Failure | null {
  const { state } = draft;
  const values = valuesFor(knownFor(state, invocationId), tool, given);
  const invocation = { toolName, invocationId, parameters: parametersOf(values) };
  const message: ServerDataMessage =
    to === "client"
      ? { type: "client_tool_invocation", ...invocation }
      : { type: "data_connection_tool_invocation", ...invocation };
  if (utf8Length(JSON.stringify(message)) > MAX_DATA_MESSAGE_BYTES)
    return failed("its parameters are too long");
  if (to === "client") {
    if (!state.flags.clientToolInvocation) return failed("the client takes no tool invocations");
    if (state.connection.kind === "lost") return failed("the client is not connected");
    sendToClient(draft, "clientToolInvocation", message);
    return null;
  }
  if (!isDataConnectionOpen(state)) return failed("the data connection is not open");
  if (state.plan.dataConnection?.dataMessages.dataConnectionToolInvocation !== true)
    return failed("the data connection takes no tool invocations");
  sendToDataConnection(draft, "dataConnectionToolInvocation", message);
  return null;
}
