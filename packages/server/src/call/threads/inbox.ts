/** What is sent to a side thread waits until the thread is not busy. Rules R122 and R123 of SPEC.md. */

import type { Draft } from "../draft.ts";
import { updateThread, warnOfThread } from "./thread-draft.ts";
import { withMessage } from "./thread-history.ts";
import { INBOX_MAX } from "./thread-limits.ts";
import { argumentsText } from "./side-generation.ts";
import { threadNamed, type SideThread, type ThreadInput } from "./thread-state.ts";

/** The thread that may take a message; null: there is none, which is recorded. */
export function receiver(draft: Draft, threadId: string | null, named: string): SideThread | null {
  const thread = threadId === null ? null : threadNamed(draft.state.sideThreads, threadId);
  if (thread === null) {
    const text = "a message was dropped: the call has no thread of its id";
    warnOfThread(draft, "thread_comms.non_existent_thread", named, text);
    return null;
  }
  if (thread.fault !== null) {
    const text = `a message was dropped: the thread ${thread.threadId} has ended`;
    warnOfThread(draft, "thread_comms.failed_thread", named, text);
    return null;
  }
  if (thread.inbox.length >= INBOX_MAX) {
    const text = `a data message was dropped: ${INBOX_MAX} others wait for the thread ${thread.threadId}`;
    warnOfThread(draft, "data_message.limited", named, text);
    return null;
  }
  return thread;
}

export function enqueue(draft: Draft, { threadId, inbox }: SideThread, input: ThreadInput): void {
  updateThread(draft, threadId, { inbox: [...inbox, input] });
}

/** Takes up what waits. Texts that wait together are answered together. */
export function takeInbox(draft: Draft, thread: SideThread): SideThread {
  let { history, round, due, toolRounds, inbox } = thread;
  while (round === null) {
    const [next, ...rest] = inbox;
    if (next === undefined || (due && next.kind === "forced")) break;
    inbox = rest;
    if (next.kind === "text") {
      if (next.text.trim() !== "")
        history = withMessage(draft.state, history, { role: "user", text: next.text });
      due ||= next.asks;
      toolRounds = 0;
      continue;
    }
    if (next.text.trim() !== "")
      history = withMessage(draft.state, history, { role: "agent", text: next.text });
    for (const call of next.calls)
      history = withMessage(draft.state, history, { role: "tool_call", text: argumentsText(call), call });
    if (next.calls.length > 0) round = { calls: next.calls, spoke: next.text.trim() !== "", borrowed: false };
  }
  return updateThread(draft, thread.threadId, { history, round, due, toolRounds, inbox });
}
