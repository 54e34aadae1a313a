/** Changes of one side thread within a step, and the messages about it that clients get. Rules R123 and R134 of SPEC.md. */

import type { ServerDataMessage } from "@parley/schema";
import { DATA_MESSAGE_NOTICE_EVERY_MS, recordEventAtMost } from "../call-events.ts";
import { emit, update, type Draft } from "../draft.ts";
import { threadNamed, type SideThread } from "./thread-state.ts";

export function updateThread(draft: Draft, threadId: string, changes: Partial<SideThread>): SideThread {
  const { sideThreads } = draft.state;
  const before = threadNamed(sideThreads, threadId);
  if (before === null) throw new Error("no thread to change");
  const next = { ...before, ...changes };
  const list = sideThreads.list.map((thread) => (thread === before ? next : thread));
  update(draft, { sideThreads: { ...sideThreads, list } });
  return next;
}

/** Messages about threads have no flag of their own: they are sent where threads are used. */
export function sendOfThread(draft: Draft, message: ServerDataMessage): void {
  emit(draft, { type: "sendDataMessage", message });
  if (draft.state.dataConnection === "connected") emit(draft, { type: "sendDataConnectionMessage", message });
}

/** Characters of an id that is repeated to its sender; no valid one is longer. */
const SHOWN_ID_MAX_CHARS = 64;

export function shownId(threadId: string): string {
  return threadId.slice(0, SHOWN_ID_MAX_CHARS);
}

/** A message to a thread that cannot take it: at most one warning per second and kind. */
export function warnOfThread(
  draft: Draft,
  type:
    | "thread_comms.non_existent_thread"
    | "thread_comms.failed_thread"
    | "thread_comms.unsupported_call_change"
    | "data_message.limited"
    | "data_message.invalid",
  threadId: string,
  text: string,
): void {
  const extras = { threadId: shownId(threadId) };
  recordEventAtMost(draft, DATA_MESSAGE_NOTICE_EVERY_MS, type, { severity: "warning", type, text, extras });
}
