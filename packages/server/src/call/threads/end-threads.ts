/** Ends of side threads. Rules R127, R128 and R133 of SPEC.md. */

import type { ThreadEnd } from "@parley/schema";
import { recordEvent } from "../call-events.ts";
import { emit, update, type Draft } from "../draft.ts";
import { answerCall, plainAnswer, rememberDropped } from "../tools/round.ts";
import { sendOfThread, updateThread } from "./thread-draft.ts";
import { THREADS_FAILED_KEPT } from "./thread-limits.ts";
import { liveThread, type SideThread, type SideThreads } from "./thread-state.ts";
import { countTokens, estimatedTokens } from "./thread-tokens.ts";

const EVENTS: Readonly<Record<ThreadEnd, string>> = {
  call_ended: "thread.canceled",
  stage_changed: "thread.canceled",
  replaced: "thread.canceled",
  limit_reached: "thread.limit_reached",
  failed: "thread.failed",
};

const ENDED_FAILURE = "The tool failed: the thread that called it has ended";

/** All of them: the call ends, or its stage. */
export function endThreads(draft: Draft, reason: "call_ended" | "stage_changed"): void {
  const { sideThreads } = draft.state;
  if (sideThreads.list.length === 0) return;
  for (const { threadId, fault } of sideThreads.list)
    if (fault === null) endThread(draft, threadId, reason, `the thread ${threadId} was ended: ${reason}`);
  update(draft, { sideThreads: { ...draft.state.sideThreads, list: [] } });
}

/**
 * A thread that has failed or reached a limit is still known by its id; any other is forgotten.
 *
 * @param text for the record, without anything that was said
 */
export function endThread(
  draft: Draft,
  threadId: string,
  reason: ThreadEnd,
  text: string,
  extras: Readonly<Record<string, unknown>> = {},
): void {
  const thread = liveThread(draft.state.sideThreads, threadId);
  if (thread === null) return;
  cancelGeneration(draft, thread);
  giveUpCalls(draft, thread);
  const isFault = reason === "limit_reached" || reason === "failed";
  recordEvent(draft, {
    severity: isFault ? "warning" : "info",
    type: EVENTS[reason],
    text,
    extras: { threadId, reason, ...extras },
  });
  sendOfThread(draft, { type: "thread_terminated", threadId, reason });
  if (isFault) keepFailed(draft, threadId, reason);
  else forget(draft, threadId);
}

export function forget(draft: Draft, threadId: string): void {
  const { sideThreads } = draft.state;
  const list = sideThreads.list.filter((thread) => thread.threadId !== threadId);
  update(draft, { sideThreads: { ...sideThreads, list } });
}

/** Aborts what the thread is generating. What it has cost so far is estimated. */
export function cancelGeneration(draft: Draft, { threadId, generation }: SideThread): void {
  if (generation === null) return;
  const { generationId, requestChars, text } = generation;
  emit(draft, { type: "abortSide", generationId });
  recordEvent(draft, {
    severity: "info",
    type: "side_generation.canceled",
    text: `a generation of the thread ${threadId} was canceled`,
    extras: { threadId, generationId },
  });
  const inputTokens = estimatedTokens(draft.state, requestChars);
  countTokens(draft, threadId, { inputTokens, outputTokens: estimatedTokens(draft.state, text.length) });
  updateThread(draft, threadId, { generation: null });
}

/** Threads that were spawned from this one may wait for the same calls. */
function giveUpCalls(draft: Draft, { round }: SideThread): void {
  if (round === null || round.borrowed) return;
  const open = round.calls.filter(({ progress }) => progress.kind !== "answered");
  for (const { invocationId, progress } of open) {
    if (progress.kind === "running") emit(draft, { type: "abortTool", invocationId });
    answerCall(draft, invocationId, {
      ...plainAnswer(ENDED_FAILURE),
      errorDetails: "the thread ended before the tool answered",
    });
  }
  rememberDropped(
    draft,
    open.map(({ invocationId }) => invocationId),
  );
}

/** Only what its state is read from. */
function keepFailed(draft: Draft, threadId: string, fault: "failed" | "limit_reached"): void {
  const history = { entries: [], nextIndex: 0, chars: 0, version: 0 };
  const done = { generation: null, round: null, inbox: [], due: false };
  updateThread(draft, threadId, { fault, history, callState: {}, ...done });
  const { sideThreads } = draft.state;
  update(draft, { sideThreads: withoutOldFailures(sideThreads) });
}

function withoutOldFailures(threads: SideThreads): SideThreads {
  const failed = threads.list.filter(({ fault }) => fault !== null);
  const old = new Set(failed.slice(0, -THREADS_FAILED_KEPT));
  return old.size === 0 ? threads : { ...threads, list: threads.list.filter((thread) => !old.has(thread)) };
}
