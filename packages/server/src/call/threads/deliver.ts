/** Data messages that name a thread, from whomever they come. Rules R122 to R125 of SPEC.md. */

import { MAIN_THREAD_ID, type ThreadDataMessage } from "@parley/schema";
import type { Draft } from "../draft.ts";
import { takeUserText } from "../life/typed-text.ts";
import { takeForced } from "../reply/forced.ts";
import type { ToolAnswer } from "../tools/tool-state.ts";
import { enqueue, receiver } from "./inbox.ts";
import { sideCall } from "./side-generation.ts";
import { addressed, spawnThread } from "./spawn.ts";
import { warnOfThread } from "./thread-draft.ts";

export interface Delivery {
  readonly message: ThreadDataMessage;
  /** For each tool call that the message asks for why it cannot be carried out, or null. */
  readonly problems: readonly (string | null)[];
}

/** @param sender the thread whose tool sends it; null: the client, the data connection or REST */
export function deliver(draft: Draft, { message, problems }: Delivery, sender: string | null): void {
  if (message.type === "spawn_thread") {
    spawnThread(draft, message, sender, problems);
    return;
  }
  const target = addressed(draft.state, message.threadId, sender);
  if (message.type === "user_text_message") tellText(draft, message, target);
  else tellForced(draft, message, target, problems);
}

/** The messages that the results of a complete round send, in the order of its calls. */
export function deliverAll(draft: Draft, answers: readonly ToolAnswer[], sender: string): void {
  for (const { consequence } of answers)
    if (consequence?.kind === "sendToThread") deliver(draft, consequence, sender);
}

type TextMessage = Extract<ThreadDataMessage, { readonly type: "user_text_message" }>;
type ForcedMessage = Extract<ThreadDataMessage, { readonly type: "forced_agent_message" }>;

/** A side thread takes every urgency as `soon`. */
function tellText(draft: Draft, message: TextMessage, target: string | null): void {
  const { text, urgency, deferResponse } = message;
  if (target === MAIN_THREAD_ID) {
    takeUserText(draft, text, urgency, deferResponse);
    return;
  }
  const thread = receiver(draft, target, message.threadId);
  if (thread !== null) enqueue(draft, thread, { kind: "text", text, asks: deferResponse !== true });
}

function tellForced(
  draft: Draft,
  message: ForcedMessage,
  target: string | null,
  problems: readonly (string | null)[],
): void {
  if (target === MAIN_THREAD_ID) {
    takeForced(draft, message, problems);
    return;
  }
  const { content, toolCalls, knownToolResults } = message;
  const thread = receiver(draft, target, message.threadId);
  if (thread === null) return;
  if (content.trim() === "" && toolCalls.length === 0) {
    const text = "a forced message was dropped: nothing to say and nothing to call";
    warnOfThread(draft, "data_message.invalid", message.threadId, text);
    return;
  }
  const calls = toolCalls.map(({ id, name, arguments: given }, index) => {
    const known = knownToolResults.find(({ invocationId }) => id !== undefined && invocationId === id);
    const problem = problems[index] ?? null;
    return sideCall(draft, { toolName: name, arguments: given, problem, knownResult: known?.result ?? null });
  });
  // The calls are counted in the state, of which `thread` is a part.
  enqueue(draft, thread, { kind: "forced", text: content, calls });
}
