/** The history in the order and the shape in which models take it. Rules R40 and R71 of SPEC.md. */

import type { LlmMessage } from "@parley/schema";
import { isInitial } from "./history.ts";
import type { History, HistoryEntry } from "../state.ts";

/** Follows a message that was cut short; only the model sees it, so that it knows what has not been said. */
export const INTERRUPTED_MARK = "— [interrupted]";
/** Models imitate the mark at the end of a message and write it themselves. */
const IMITATED_MARK = /\s{0,2}(?:[—–-]{1,3}\s{0,2})?\[interrupted\]/giu;

/** What a model has written so far, without marks that only the engine may write. */
export function withoutMarks(text: string): string {
  return text.replace(IMITATED_MARK, "");
}

/** A unit that the model sees whole or not at all: one message, or the calls of one round with all their results. */
export interface MessageUnit {
  readonly messages: readonly LlmMessage[];
  /** It is older than the call or the stage. */
  readonly initial: boolean;
}

/**
 * The calls of one round are one message, directly followed by all their results, whatever was said between them:
 * models take no other order. Empty messages are left out; a tool call without its result, or a result without its
 * call, as well.
 */
export function messageUnits(history: History): readonly MessageUnit[] {
  const results = new Map(
    history.entries.flatMap((e) => (e.role === "tool_result" ? [[e.invocationId, e] as const] : [])),
  );
  const units: MessageUnit[] = [];
  let round: HistoryEntry[] = [];
  for (const entry of history.entries) {
    if (entry.role === "tool_call") {
      const { invocationId } = entry;
      const known = round.some((call) => call.invocationId === invocationId);
      if (invocationId !== null && results.has(invocationId) && !known) round.push(entry);
      continue;
    }
    units.push(...roundUnit(round, results));
    round = [];
    if (entry.role === "tool_result" || entry.text === "") continue;
    units.push({ messages: [modelMessage(entry, entry.role)], initial: isInitial(entry) });
  }
  return [...units, ...roundUnit(round, results)];
}

function modelMessage(entry: HistoryEntry, role: "user" | "agent"): LlmMessage {
  const text = modelText(entry);
  const { utteranceIds } = entry;
  return role === "user" && utteranceIds !== undefined ? { role, text, utteranceIds } : { role, text };
}

function modelText({ text, interrupted }: HistoryEntry): string {
  return interrupted === true ? `${text}${INTERRUPTED_MARK}` : text;
}

function roundUnit(
  calls: readonly HistoryEntry[],
  results: ReadonlyMap<string | null, HistoryEntry>,
): readonly MessageUnit[] {
  if (calls.length === 0) return [];
  const toolCalls = calls.map(({ invocationId, toolName, text }) => ({
    id: invocationId ?? "",
    name: toolName ?? "tool",
    arguments: argumentsOf(text),
  }));
  const messages: readonly LlmMessage[] = [
    { role: "agent", text: "", toolCalls },
    ...toolCalls.map(({ id, name }): LlmMessage => {
      return { role: "tool", invocationId: id, toolName: name, text: results.get(id)?.text ?? "" };
    }),
  ];
  return [{ messages, initial: calls.every(isInitial) }];
}

/** The text of a recorded tool call is its arguments as JSON; anything else counts as a call without arguments. */
export function argumentsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
