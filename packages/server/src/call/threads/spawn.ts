/** Starts side threads. Rules R114 to R118 of SPEC.md. */

import {
  isSideThreadId,
  MAIN_THREAD_ID,
  PARENT_THREAD_ID,
  type ThreadDataMessage,
  type ThreadRejection,
} from "@parley/schema";
import { debug } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import type { CallState, History } from "../state.ts";
import type { ToolCall, ToolRound } from "../tools/tool-state.ts";
import { CALLS_PER_REPLY } from "../tools/use.ts";
import { endThread, forget } from "./end-threads.ts";
import { callsAtEnd, type GivenCall } from "./given-calls.ts";
import { argumentsText, sideCall } from "./side-generation.ts";
import { sendOfThread, shownId } from "./thread-draft.ts";
import { copiedHistory, givenMessage, withMessage } from "./thread-history.ts";
import { limitsOf, THREADS_LIVE_MAX, THREADS_SPAWNED_MAX } from "./thread-limits.ts";
import { liveThread, threadNamed, type SideRound, type SideThread } from "./thread-state.ts";

type SpawnMessage = Extract<ThreadDataMessage, { readonly type: "spawn_thread" }>;

/**
 * The thread that an id means to the one that sends from `sender`; null: the client or REST. Null also for the parent of
 * a sender without one.
 */
export function addressed(state: CallState, threadId: string, sender: string | null): string | null {
  if (threadId !== PARENT_THREAD_ID) return threadId;
  if (sender === null) return null;
  return threadNamed(state.sideThreads, sender)?.parentId ?? null;
}

/** @param problems for each tool call at the end of the messages why it cannot be carried out, or null */
export function spawnThread(
  draft: Draft,
  message: SpawnMessage,
  sender: string | null,
  problems: readonly (string | null)[],
): void {
  const { newThreadId: threadId, ifExists } = message;
  const parentId = addressed(draft.state, message.parentThreadId, sender);
  const given = callsAtEnd(message.additionalMessages);
  const rejection = rejectionOf(draft.state, message, parentId, given);
  if (rejection !== null || parentId === null) {
    const reason = rejection ?? "unknown_parent";
    sendOfThread(draft, { type: "thread_rejected", threadId: shownId(threadId), reason });
    return;
  }
  // The parent may be the thread that is replaced.
  const parent = liveThread(draft.state.sideThreads, parentId);
  const { history, round } = beginning(draft, message, parent, given, problems);
  const { callState } = parent ?? draft.state;
  if (ifExists === "replace") replace(draft, threadId);
  const last = history.entries.at(-1);
  const { sideThreads } = draft.state;
  const thread: SideThread = {
    threadId,
    parentId,
    fault: null,
    history,
    callState,
    toolFilter: message.toolFilter,
    limits: limitsOf(message.limits),
    used: { generations: 0, inputTokens: 0, outputTokens: 0 },
    toolRounds: 0,
    due: round === null && (last?.role === "user" || last?.role === "tool_result"),
    failures: 0,
    retryAtMs: 0,
    generation: null,
    round,
    inbox: [],
  };
  const list = [...sideThreads.list, thread];
  update(draft, { sideThreads: { ...sideThreads, list, spawned: sideThreads.spawned + 1 } });
  debug(draft, `thread ${threadId}: spawned from ${parentId}`);
  sendOfThread(draft, { type: "thread_spawned", threadId });
}

function rejectionOf(
  { sideThreads }: CallState,
  { newThreadId, ifExists }: SpawnMessage,
  parentId: string | null,
  given: readonly GivenCall[],
): ThreadRejection | null {
  if (!isSideThreadId(newThreadId) || given.length > CALLS_PER_REPLY) return "invalid";
  const hasParent = parentId === MAIN_THREAD_ID || liveThread(sideThreads, parentId ?? "") !== null;
  if (!hasParent) return "unknown_parent";
  const exists = threadNamed(sideThreads, newThreadId) !== null;
  if (exists && ifExists === "reject") return "exists";
  const live = sideThreads.list.filter(({ threadId, fault }) => fault === null && threadId !== newThreadId);
  const isFull = live.length >= THREADS_LIVE_MAX || sideThreads.spawned >= THREADS_SPAWNED_MAX;
  return isFull ? "too_many" : null;
}

function replace(draft: Draft, threadId: string): void {
  endThread(draft, threadId, "replaced", `the thread ${threadId} was replaced by another of its id`);
  forget(draft, threadId);
}

interface Beginning {
  readonly history: History;
  readonly round: SideRound | null;
}

/** The messages of a new thread. If they end with tool calls, it begins with their results. */
function beginning(
  draft: Draft,
  { additionalMessages }: SpawnMessage,
  parent: SideThread | null,
  given: readonly GivenCall[],
  problems: readonly (string | null)[],
): Beginning {
  let history = copiedHistory(draft.state, parent);
  if (additionalMessages.length === 0) {
    const open = parent === null ? draft.state.toolRound : parent.round;
    return { history, round: open === null || !endsWith(history, open) ? null : { ...open, borrowed: true } };
  }
  const plain = additionalMessages.slice(0, additionalMessages.length - given.length);
  for (const message of plain) history = withMessage(draft.state, history, givenMessage(message));
  const calls = given.map(({ name, arguments: args }, index): ToolCall => {
    return sideCall(draft, { toolName: name, arguments: args, problem: problems[index] ?? null });
  });
  for (const call of calls)
    history = withMessage(draft.state, history, { role: "tool_call", text: argumentsText(call), call });
  return { history, round: calls.length === 0 ? null : { calls, spoke: false, borrowed: false } };
}

function endsWith({ entries }: History, { calls }: ToolRound): boolean {
  const last = entries.at(-1);
  return last?.role === "tool_call" && calls.some(({ invocationId }) => invocationId === last.invocationId);
}
