/** Queue of forced messages and forced tool calls of the agent. Rules R54, R55 and R106 of SPEC.md. */

import type { ClientDataMessage } from "@parley/schema";
import { DATA_MESSAGE_NOTICE_EVERY_MS, recordEventAtMost } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import { cutReply } from "./playout.ts";
import { dropSpeculation, noteReplyDue, startReply } from "./reply.ts";
import { isSpeakable } from "./segment.ts";
import { openRound } from "../tools/round.ts";
import { newCall } from "../tools/use.ts";

/** Limit of the queue; a client that sends more does not listen to what the agent says for it. */
export const FORCED_MAX = 16;

type ForcedMessageBody = Extract<ClientDataMessage, { readonly type: "forced_agent_message" }>;

/** @param problems for each tool call why it cannot be carried out, or null */
export function takeForced(
  draft: Draft,
  message: ForcedMessageBody,
  problems: readonly (string | null)[],
): void {
  const { content, uninterruptible, urgency, toolCalls, knownToolResults } = message;
  const { forced } = draft.state;
  const text = isSpeakable(content) ? content : "";
  if (text === "" && toolCalls.length === 0) return refuse(draft, "nothing to say and nothing to call");
  if (forced.length >= FORCED_MAX) return refuse(draft, `${FORCED_MAX} others are waiting to be said`);
  const calls = toolCalls.map(({ id, name, arguments: given }, index) => {
    const known =
      id === undefined ? undefined : knownToolResults.find(({ invocationId }) => invocationId === id);
    const knownResult = known?.result ?? null;
    const problem = problems[index] ?? null;
    return newCall(draft, { toolName: name, arguments: given, problem, knownResult });
  });
  const immediate = urgency === "immediate";
  const entry = { text, calls, uninterruptible, immediate };
  const before = immediate ? forced.filter((other) => other.immediate) : forced;
  update(draft, { forced: [...before, entry, ...forced.slice(before.length)] });
  if (immediate) interrupt(draft);
}

function refuse(draft: Draft, why: string): void {
  recordEventAtMost(draft, DATA_MESSAGE_NOTICE_EVERY_MS, "data_message.invalid", {
    severity: "warning",
    type: "data_message.invalid",
    text: `a forced message was dropped: ${why}`,
  });
}

function interrupt(draft: Draft): void {
  const { reply } = draft.state;
  if (reply === null || reply.uninterruptible) return;
  if (!reply.committed) {
    dropSpeculation(draft);
    return;
  }
  // What it answers counted as answered from its first sound on, but its rest, and calls that it may have promised, are
  // lost with it. The user has said nothing that would request them again.
  const generated = reply.requestChars > 0;
  if (reply.begun && generated && reply.playout !== "cutting") noteReplyDue(draft);
  cutReply(draft, "text");
}

/** Says the next one, once the slot is free and the user is silent; without words its calls begin at once. */
export function startForced(draft: Draft): void {
  const [next, ...forced] = draft.state.forced;
  if (next === undefined) return;
  update(draft, { forced });
  const { text, calls, uninterruptible } = next;
  if (text === "") openRound(draft, calls, false);
  else
    startReply(draft, {
      purpose: "forced",
      text,
      calls,
      uninterruptible,
      covers: draft.state.inputs.answered,
    });
}
