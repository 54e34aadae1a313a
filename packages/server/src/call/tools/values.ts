/**
 * What a tool is given: the model's arguments, fixed values, and what the service knows of the call.
 * Rules R46 and R132 of SPEC.md.
 */

import { formatDurationMs, MAIN_THREAD_ID, MESSAGE_ROLE_OF } from "@parley/schema";
import type { Message, Timespan } from "@parley/schema";
import type { ToolInvocationRequest } from "../effects.ts";
import type { CallState } from "../state.ts";
import { threadOfCall, threadStates, type SideThreads } from "../threads/thread-state.ts";
import type { KnownValue, ToolPlan } from "../../plan/tool-plan.ts";
import type { ToolCall } from "./tool-state.ts";

/** The state of a call as JSON, in bytes of UTF-8; it travels with results and messages. */
export const CALL_STATE_MAX_BYTES = 64 * 1024;

/** What automatic values are read from: the part of a call's state that they need. */
export interface KnownState extends Pick<CallState, "callState" | "toolRound"> {
  readonly plan: Pick<CallState["plan"], "callId" | "metadata"> & {
    readonly medium: Pick<CallState["plan"]["medium"], "kind" | "outputSampleRateHz">;
  };
  readonly stage: Pick<CallState["stage"], "stageId">;
  readonly history: Pick<CallState["history"], "entries">;
  /** The thread that makes the call. Unset: the one with audio. */
  readonly threadId?: string;
  /** Unset: there are none. */
  readonly sideThreads?: SideThreads;
}

/** What automatic values of this call are read from: its thread has its own messages and call state. */
export function knownFor(state: CallState, invocationId: string): KnownState {
  const thread = threadOfCall(state.sideThreads, invocationId);
  if (thread === null) return state;
  const { threadId, callState, history, round } = thread;
  return { ...state, threadId, callState, history, toolRound: round };
}

/**
 * Every parameter that has a value, which may be null. An argument that the tool does not have is left out. Tests of
 * tools outside calls use it as well, so that both send the same request.
 */
export function valuesFor(
  state: KnownState,
  tool: Pick<ToolPlan, "dynamic" | "fixed" | "automatic">,
  args: ToolCall["arguments"],
): ToolInvocationRequest["values"] {
  const given = tool.dynamic
    .filter(({ name }) => Object.hasOwn(args, name))
    .map(({ name, location }) => ({ name, location, value: args[name] }));
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
  return [...given, ...fixed, ...known].filter(({ value }) => value !== undefined);
}

/** The same as one object, for tools that are invoked by a message. */
export function parametersOf(values: ToolInvocationRequest["values"]): Record<string, unknown> {
  return Object.fromEntries(values.map(({ name, value }) => [name, value]));
}

/** What a client of WebRTC plays, whatever the rate at which the service encodes. */
const OPUS_CLOCK_HZ = 48_000;

const KNOWN: { readonly [K in KnownValue]: (state: KnownState) => unknown } = {
  callId: ({ plan }) => plan.callId,
  callStageId: ({ stage }) => stage.stageId,
  callState: ({ callState }) => callState,
  callMetadata: ({ plan }) => plan.metadata,
  conversationHistory,
  outputSampleRate: ({ plan: { medium } }) =>
    medium.kind === "webRtc" ? OPUS_CLOCK_HZ : medium.outputSampleRateHz,
  threadId: ({ threadId }) => threadId ?? MAIN_THREAD_ID,
  threadStates: ({ sideThreads }) => (sideThreads === undefined ? {} : threadStates(sideThreads)),
};

/**
 * The messages up to and without the calls that are open, as the API lists them, but without `errorDetails`: they may
 * tell one tool what happens inside another. Notes for the model alone are no messages.
 */
function conversationHistory({ history, toolRound }: KnownState): readonly Message[] {
  const open = new Set(toolRound?.calls.map(({ invocationId }) => invocationId));
  const first = history.entries.findIndex((e) => e.invocationId !== null && open.has(e.invocationId));
  const before = first === -1 ? history.entries : history.entries.slice(0, first);
  return before.flatMap(({ index, role, text, medium, invocationId, toolName, interrupted, details }) => {
    if (index === null || details === undefined) return [];
    const { stageId, callState, timespan, wallClockTimespan } = details;
    return {
      role: MESSAGE_ROLE_OF[role],
      text,
      ...(invocationId === null ? {} : { invocationId }),
      ...(toolName === null ? {} : { toolName }),
      medium: medium === "voice" ? "MESSAGE_MEDIUM_VOICE" : "MESSAGE_MEDIUM_TEXT",
      callStageMessageIndex: index,
      callStageId: stageId,
      ...(callState === null ? {} : { callState }),
      ...(timespan === null ? {} : { timespan: asDurations(timespan) }),
      ...(wallClockTimespan === null ? {} : { wallClockTimespan: asDurations(wallClockTimespan) }),
      ...(interrupted === true ? { metadata: { interrupted: "true" } } : {}),
    };
  });
}

function asDurations({ startMs, endMs }: { readonly startMs: number; readonly endMs: number }): Timespan {
  return { start: formatDurationMs(Math.round(startMs)), end: formatDurationMs(Math.round(endMs)) };
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
