/** Directories of several processes over one table in memory, for tests of what uses them. */

import type { CallDirectory, CallOperation, Forwarded } from "../nodes/call-directory.ts";

export interface FakeCall {
  state: "waiting" | "joined" | "over";
  /** The process that has claimed it; null: nobody has. */
  claimedBy: string | null;
  /** The process that keeps it ready, or runs it. */
  node: string;
}

/** Operations of others on the calls of a process. */
export type FakePerform = (callId: string, operation: CallOperation) => Promise<unknown>;

export class FakeNodes {
  readonly calls = new Map<string, FakeCall>();
  readonly #running = new Map<string, FakePerform>();
  /** Processes that run, and do not answer. */
  readonly silent = new Set<string>();

  /** A process that runs from now on. */
  open(node: string, perform: FakePerform): CallDirectory {
    this.#running.set(node, perform);
    const ownerOf = (callId: string): string | null => this.#ownerOf(callId);
    return {
      ownerOf: async (callId) => {
        const call = this.calls.get(callId);
        if (call === undefined || call.state === "over") return { state: "over", holder: "nobody" };
        const owner = ownerOf(callId);
        return { state: call.state, holder: owner === null ? "nobody" : owner === node ? "self" : "other" };
      },
      claim: async (callId) => {
        const call = this.calls.get(callId);
        if (call?.state !== "waiting") return false;
        if (call.claimedBy !== null && call.claimedBy !== node && this.#running.has(call.claimedBy))
          return false;
        Object.assign(call, { claimedBy: node, node });
        return true;
      },
      release: async (callId) => {
        const call = this.calls.get(callId);
        if (call?.state === "waiting" && call.claimedBy === node) call.claimedBy = null;
      },
      forward: async (callId, operation): Promise<Forwarded> => {
        const owner = ownerOf(callId);
        const perform = owner === null || owner === node ? undefined : this.#running.get(owner);
        if (owner === null || perform === undefined) return { kind: "no_owner" };
        if (this.silent.has(owner)) return { kind: "unreachable", reason: "does not answer" };
        // As over a network: only JSON arrives.
        const sent = JSON.parse(JSON.stringify(operation)) as CallOperation;
        return { kind: "answered", answer: await perform(callId, sent) };
      },
    };
  }

  stop(node: string): void {
    this.#running.delete(node);
  }

  #ownerOf(callId: string): string | null {
    const call = this.calls.get(callId);
    return call !== undefined && this.#running.has(call.node) ? call.node : null;
  }
}
