/** What must hold of tools at every step of every call (`SPEC.md`, I16 to I19). */

import type { SnapshotState } from "../adoption/snapshot.ts";
import type { CallEffect, MessageRecord, ReplyRequest } from "../effects.ts";
import type { CallState } from "../state.ts";

export class ToolChecker {
  readonly #invoked = new Set<string>();
  /** Ids of recorded calls; false: without a result so far. */
  readonly #recorded = new Map<string, boolean>();

  /** @param since a snapshot, where another process had the call before: nothing that it had sent is sent again */
  constructor(since: SnapshotState | null = null) {
    const calls = [...(since?.toolRound?.calls ?? []), ...(since?.reply?.calls ?? [])];
    for (const { invocationId, progress } of calls) {
      if (progress.kind !== "waiting") this.#invoked.add(invocationId);
    }
    for (const { invocationId } of since?.toolRound?.calls ?? []) this.#recorded.set(invocationId, false);
  }

  /** Calls that another process has recorded. */
  know(recorded: readonly MessageRecord[]): void {
    for (const { role, invocationId } of recorded) {
      if (invocationId !== null && role !== "user" && role !== "agent") {
        this.#recorded.set(invocationId, role === "tool_result");
      }
    }
  }

  /** The invariants that this effect broke. */
  observe(effect: CallEffect): readonly string[] {
    const { type } = effect;
    if (type === "invokeTool") return this.#invoke(effect.invocation.invocationId);
    if (type === "sendDataMessage" || type === "sendDataConnectionMessage") {
      const { message } = effect;
      const invokes =
        message.type === "client_tool_invocation" || message.type === "data_connection_tool_invocation";
      return invokes ? this.#invoke(message.invocationId) : [];
    }
    if (type === "recordMessage") return this.#record(effect.message);
    if (type === "generateReply" || type === "generateSide") return brokenIn(effect.request);
    if (type !== "endCall") return [];
    const open = [...this.#recorded].filter(([, answered]) => !answered);
    return open.map(([id]) => `I17 ${id} has a result by the end`);
  }

  #invoke(id: string): readonly string[] {
    if (this.#invoked.has(id)) return [`I16 ${id} is invoked once`];
    this.#invoked.add(id);
    return [];
  }

  #record({ role, invocationId: id, timespan }: MessageRecord): readonly string[] {
    // Initial messages are as their author wrote them.
    if (timespan === null || id === null) return [];
    if (role === "tool_call") {
      if (this.#recorded.has(id)) return [`I17 call ${id} is recorded once`];
      this.#recorded.set(id, false);
    }
    if (role === "tool_result") {
      if (this.#recorded.get(id) !== false) return [`I17 the result of ${id} follows its call, once`];
      this.#recorded.set(id, true);
    }
    return [];
  }
}

/** I18: while tools are awaited, only last words, tones and a filler take the slot. */
export function brokenByRound({ toolRound, reply }: CallState): readonly string[] {
  if (toolRound === null || reply === null) return [];
  const allowed = ["parting", "tones", "filler"].includes(reply.purpose) || reply.playout === "cutting";
  return allowed ? [] : [`I18 no ${reply.purpose} while a round of tools is open`];
}

/** I19: calls are directly followed by their results, all of them and in their order, and no result stands alone. */
function brokenIn({ messages }: ReplyRequest): readonly string[] {
  const broken: string[] = [];
  let due: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (due.shift() !== message.invocationId)
        broken.push(`I19 a result out of place: ${message.invocationId}`);
      continue;
    }
    if (due.length > 0) broken.push(`I19 no result of ${due.join(", ")}`);
    due = message.role === "agent" ? (message.toolCalls ?? []).map(({ id }) => id) : [];
  }
  if (due.length > 0) broken.push(`I19 no result of ${due.join(", ")}`);
  return broken;
}
