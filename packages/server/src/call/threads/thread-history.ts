/** The messages of a side thread: a copy of its parent's, and its own. They are no messages of the call. */

import { ROLE_OF_MESSAGE, type InitialMessage } from "@parley/schema";
import { append, bounded } from "../history/history.ts";
import { heardText } from "../history/transcript.ts";
import type { CallState, History, HistoryEntry } from "../state.ts";
import type { ToolCall } from "../tools/tool-state.ts";
import type { SideThread } from "./thread-state.ts";

export interface ThreadMessage {
  readonly role: HistoryEntry["role"];
  readonly text: string;
  readonly call?: Pick<ToolCall, "invocationId" | "toolName">;
}

export function withMessage(state: CallState, history: History, message: ThreadMessage): History {
  const { clock, stage } = state;
  const { role, text, call } = message;
  const entry: HistoryEntry = {
    index: history.nextIndex,
    role,
    text,
    medium: "text",
    invocationId: call?.invocationId ?? null,
    toolName: call?.toolName ?? null,
    startMediaMs: clock.mediaMs,
    startAtMs: clock.atMs,
    details: { stageId: stage.stageId, callState: null, timespan: null, wallClockTimespan: null },
  };
  return bounded(append(history, entry));
}

/**
 * A copy of the conversation or of another thread. What the agent is saying is copied as far as it was heard. The model
 * of a thread reads what was said and does not hear it.
 */
export function copiedHistory(state: CallState, parent: SideThread | null): History {
  const { entries, nextIndex } = (parent ?? state).history;
  const copied = entries.flatMap((entry) => {
    const { utteranceIds: _, ...rest } = entry;
    const text = parent === null ? textSoFar(state, entry) : entry.text;
    return text === "" && entry.role === "agent" ? [] : [{ ...rest, text }];
  });
  const chars = copied.reduce((sum, { text }) => sum + text.length, 0);
  return bounded({ entries: copied, nextIndex, chars, version: 0 });
}

function textSoFar({ reply }: CallState, entry: HistoryEntry): string {
  const isOpen = entry.role === "agent" && entry.text === "" && reply?.messageIndex === entry.index;
  return isOpen && reply !== null ? heardText(reply).trim() : entry.text;
}

/** A message that came with the thread, such as an instruction. */
export function givenMessage({ role, text = "", invocationId, toolName }: InitialMessage): ThreadMessage {
  const call = { invocationId: invocationId ?? "", toolName: toolName ?? "" };
  return { role: ROLE_OF_MESSAGE[role], text, ...(invocationId === undefined ? {} : { call }) };
}
