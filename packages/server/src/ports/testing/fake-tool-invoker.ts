/** Fake tool invoker without a network, for tests and benchmarks: the test sets its answers and delays. */

import type { ToolOutcome } from "@parley/schema";
import type { ToolInvocation, ToolInvoker } from "../tool-invoker.ts";
import { waitMs } from "./wait.ts";
import { throwIfAborted } from "../../pacing/abort.ts";

export interface FakeToolOptions {
  /** From the call to the answer. Default 0. */
  readonly delayMs?: number | ((call: ToolInvocation) => number);
  /** The whole answer, or its text. Default: "OK". */
  readonly answer?: (call: ToolInvocation) => ToolOutcome | string;
}

export interface FakeToolInvoker extends ToolInvoker {
  /** Every call that was started, oldest first. */
  readonly calls: readonly ToolInvocation[];
  /** Calls that were aborted before their answer. */
  readonly aborted: readonly string[];
}

export function completedAnswer(result: string): ToolOutcome {
  return {
    kind: "completed",
    result,
    responseType: "tool-response",
    reaction: null,
    updateCallState: null,
  };
}

/** Enforces the timeout of each call as a real invoker does. */
export function openFakeToolInvoker(options: FakeToolOptions = {}): FakeToolInvoker {
  const { delayMs = 0, answer = () => "OK" } = options;
  const calls: ToolInvocation[] = [];
  const aborted: string[] = [];
  const closing = new AbortController();
  return {
    calls,
    aborted,
    async invoke(call, outer) {
      const signal = AbortSignal.any([outer, closing.signal]);
      throwIfAborted(signal);
      calls.push(call);
      const takesMs = typeof delayMs === "number" ? delayMs : delayMs(call);
      try {
        await waitMs(Math.min(takesMs, call.timeoutMs), signal);
        throwIfAborted(signal);
      } catch (error) {
        aborted.push(call.invocationId);
        throw error;
      }
      if (takesMs > call.timeoutMs) return timedOut(call.timeoutMs);
      const given = answer(call);
      return typeof given === "string" ? completedAnswer(given) : given;
    },
    close: () => {
      closing.abort();
      return Promise.resolve();
    },
  };
}

function timedOut(timeoutMs: number): ToolOutcome {
  const text = `The tool failed: timeout after ${String(timeoutMs / 1000)}s`;
  return { kind: "failed", cause: "timeout", text, errorDetails: text };
}
