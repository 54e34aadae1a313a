/**
 * The spans of side threads: the parents of what they generate and of the tools that they call. They begin with the first
 * request of a thread and end with the thread, so a thread without any request has none.
 */

import type { CallState } from "../../call/call.ts";
import type { CallEventRecord } from "../../call/effects.ts";
import { liveThread } from "../../call/threads/thread-state.ts";
import type { Span } from "../../ports/traces.ts";
import type { SpanBudget } from "./span-budget.ts";

export interface ThreadSpansDeps {
  readonly root: Span;
  readonly budget: SpanBudget;
  readonly wallMs: (atMs: number) => number;
}

/** Reasons of ends that are faults. */
const FAULTS: readonly unknown[] = ["failed", "limit_reached"];

export class ThreadSpans {
  readonly #deps: ThreadSpansDeps;
  /** Of threads that are live, so there are at most as many as threads that live at once. */
  readonly #open = new Map<string, Span>();

  constructor(deps: ThreadSpansDeps) {
    this.#deps = deps;
  }

  /** Null: the limit of spans is reached. */
  of(threadId: string, atMs: number): Span | null {
    const known = this.#open.get(threadId);
    if (known !== undefined) return known;
    const { root, budget, wallMs } = this.#deps;
    const span = budget.begin(root, {
      name: "thread",
      kind: "internal",
      startMs: wallMs(atMs),
      attributes: { "parley.thread.id": threadId },
    });
    if (span !== null) this.#open.set(threadId, span);
    return span;
  }

  /** In the order of the effects, because a thread may be replaced by one with the same id. */
  recorded({ type, extras }: CallEventRecord, atMs: number): void {
    const threadId = extras?.["threadId"];
    const reason = extras?.["reason"];
    if (!type.startsWith("thread.") || typeof threadId !== "string" || typeof reason !== "string") return;
    this.#end(threadId, reason, atMs);
  }

  /** Events of a call are limited in number, so an end may have none. */
  settle({ sideThreads }: CallState, atMs: number): void {
    for (const threadId of this.#open.keys()) {
      if (liveThread(sideThreads, threadId) === null) this.#end(threadId, "ended", atMs);
    }
  }

  /** The call is over. */
  finish(atMs: number): void {
    for (const threadId of this.#open.keys()) this.#end(threadId, "call_ended", atMs);
  }

  #end(threadId: string, outcome: string, atMs: number): void {
    const span = this.#open.get(threadId);
    if (span === undefined) return;
    this.#open.delete(threadId);
    span.set({ "parley.thread.outcome": outcome });
    span.end(this.#deps.wallMs(atMs), FAULTS.includes(outcome) ? outcome : null);
  }
}
