/**
 * Runs the tools of one call that the service itself invokes, from the request to the one result that the engine gets.
 */

import type { ToolOutcome } from "@parley/schema";
import type { ToolInvocationRequest } from "../../call/effects.ts";
import type { CallEngineEventBody } from "../../call/events.ts";
import { SIDE_CALLS_RUNNING_MAX } from "../../call/threads/thread-limits.ts";
import type { ToolInvoker } from "../../ports/tool-invoker.ts";
import type { Clock } from "../../pacing/clock.ts";
import { messageOf } from "../../pacing/error-text.ts";

export interface ToolRunsDeps {
  readonly callId: string;
  readonly accountId: string;
  readonly invoker: ToolInvoker;
  readonly clock: Clock;
  readonly post: (event: CallEngineEventBody) => void;
  /** Called for a throw that only a bug of ours can cause. */
  readonly faulted: (error: unknown) => void;
}

/** An invoker enforces the timeout itself; after this much more it is considered broken. */
const OVERDUE_MS = 1_000;
/** Limit of concurrent runs: the calls of two generations, of which the engine waits for one, and of side threads. */
const MAX_RUNNING = 32 + SIDE_CALLS_RUNNING_MAX;
/** Limit of invocations in a whole call: one every nine seconds of the longest call. */
const MAX_INVOCATIONS = 10_000;

export class ToolRuns {
  readonly #deps: ToolRunsDeps;
  readonly #running = new Map<string, AbortController>();
  /** Every invocation ever started: none is sent twice, whatever requests it. */
  readonly #started = new Set<string>();

  constructor(deps: ToolRunsDeps) {
    this.#deps = deps;
  }

  start(request: ToolInvocationRequest): void {
    const { invocationId } = request;
    if (this.#started.has(invocationId)) return;
    if (this.#running.size >= MAX_RUNNING || this.#started.size >= MAX_INVOCATIONS) {
      this.#post(invocationId, failed("too many tools are running", "refused: the call's limit of tools"));
      return;
    }
    this.#started.add(invocationId);
    const controller = new AbortController();
    this.#running.set(invocationId, controller);
    this.#run(request, controller).catch(this.#deps.faulted);
  }

  /** Nothing is posted about the invocation afterwards. Idempotent. */
  abort(invocationId: string): void {
    this.#running.get(invocationId)?.abort();
    this.#running.delete(invocationId);
  }

  close(): void {
    for (const invocationId of this.#running.keys()) this.abort(invocationId);
  }

  async #run(request: ToolInvocationRequest, controller: AbortController): Promise<void> {
    const { invocationId, timeoutMs } = request;
    const { callId, accountId, invoker, clock } = this.#deps;
    const cancelLimit = clock.after(timeoutMs + OVERDUE_MS, () => {
      if (!this.#finish(invocationId, controller)) return;
      controller.abort();
      this.#post(invocationId, {
        kind: "failed",
        cause: "timeout",
        text: `The tool failed: timeout after ${String(timeoutMs / 1000)}s`,
        errorDetails: "the invoker exceeded the timeout",
      });
    });
    try {
      const outcome = await invoker.invoke({ ...request, callId, accountId }, controller.signal);
      if (this.#finish(invocationId, controller)) this.#post(invocationId, outcome);
    } catch (error) {
      if (!this.#finish(invocationId, controller)) return;
      this.#post(invocationId, failed("it could not be called", messageOf(error)));
    } finally {
      cancelLimit();
    }
  }

  /** False when the run was aborted or is over: then its result is discarded. */
  #finish(invocationId: string, controller: AbortController): boolean {
    if (this.#running.get(invocationId) !== controller) return false;
    this.#running.delete(invocationId);
    return true;
  }

  #post(invocationId: string, outcome: ToolOutcome): void {
    this.#deps.post({ type: "toolFinished", invocationId, outcome });
  }
}

function failed(reason: string, errorDetails: string): ToolOutcome {
  return { kind: "failed", cause: "error", text: `The tool failed: ${reason}`, errorDetails };
}
