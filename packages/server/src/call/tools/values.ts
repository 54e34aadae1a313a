/**
 * What a tool is given: the model's arguments, fixed values, and what the service knows of the call.
 * Rule R46 of SPEC.md.
 */

import { MAIN_THREAD_ID, type MessageRole } from "@parley/schema";
import type { ToolInvocationRequest } from "../effects.ts";
import type { CallState, HistoryEntry } from "../state.ts";
import type { KnownValue, ToolPlan } from "../../plan/tool-plan.ts";
import type { ToolCall } from "./tool-state.ts";

/** The state of a call as JSON, in bytes of UTF-8; it travels with results and messages. */
export const CALL_STATE_MAX_BYTES = 64 * 1024;

/** Every parameter that has a value. An argument that the tool does not have is left out. */
export function valuesFor(state: CallState, tool: ToolPlan, call: ToolCall): ToolInvocationRequest["values"] {
  const given = tool.dynamic.map(({ name, location }) => ({
    name,
    location,
    value: Object.hasOwn(call.arguments, name) ? call.arguments[name] : null,
  }));
  const known = tool.automatic.map((parameter) => ({
    name: parameter.name,
    location: parameter.location,
    value: KNOWN[parameter.known](state),
  }));
  const fixed = tool.fixed.map(({ name, location, value }) => ({
    name,
    location,
    value,
    fixed: true as const,
  }));
  return [...given, ...fixed, ...known].filter(({ value }) => value !== null && value !== undefined);
}

/** The same as one object, for tools that are invoked by a message. */
export function parametersOf(values: ToolInvocationRequest["values"]): Record<string, unknown> {
  return Object.fromEntries(values.map(({ name, value }) => [name, value]));
}

const KNOWN: { readonly [K in KnownValue]: (state: CallState) => unknown } = {
  callId: ({ plan }) => plan.callId,
  callStageId: ({ stage }) => stage.stageId,
  callState: ({ callState }) => callState,
  callMetadata: ({ plan }) => plan.metadata,
  conversationHistory,
  outputSampleRate,
  threadId: () => MAIN_THREAD_ID,
  // The conversation is the only thread.
  threadStates: () => ({}),
};

function outputSampleRate({ plan }: CallState): number | null {
  return plan.medium.kind === "serverWebSocket" ? plan.medium.outputSampleRateHz : null;
}

const ROLES = {
  user: "MESSAGE_ROLE_USER",
  agent: "MESSAGE_ROLE_AGENT",
  tool_call: "MESSAGE_ROLE_TOOL_CALL",
  tool_result: "MESSAGE_ROLE_TOOL_RESULT",
} as const satisfies Record<HistoryEntry["role"], MessageRole>;

/** The messages up to and without the calls that are open; notes for the model alone are no messages. */
function conversationHistory({ history, toolRound, stage }: CallState): readonly object[] {
  const open = new Set(toolRound?.calls.map(({ invocationId }) => invocationId));
  const first = history.entries.findIndex((e) => e.invocationId !== null && open.has(e.invocationId));
  const before = first === -1 ? history.entries : history.entries.slice(0, first);
  return before.flatMap(({ index, role, text, medium, invocationId, toolName }) => {
    if (index === null || (role === "agent" && text === "")) return [];
    return {
      role: ROLES[role],
      text,
      medium: medium === "voice" ? "MESSAGE_MEDIUM_VOICE" : "MESSAGE_MEDIUM_TEXT",
      callStageMessageIndex: index,
      callStageId: stage.stageId,
      ...(invocationId === null ? {} : { invocationId }),
      ...(toolName === null ? {} : { toolName }),
    };
  });
}

/** Merged one level deep; null removes a key. Null: it would be too large. */
export function mergedState(
  state: CallState["callState"],
  changes: Readonly<Record<string, unknown>>,
): CallState["callState"] | null {
  const merged = Object.entries({ ...state, ...changes }).filter(([, value]) => value !== null);
  const next = Object.fromEntries(merged);
  return utf8Length(JSON.stringify(next)) > CALL_STATE_MAX_BYTES ? null : next;
}

export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
