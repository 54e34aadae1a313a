/** Tools without a network, for tests and benchmarks: answers that the test gives, after delays that it chooses. */

import type { ToolAnswer, ToolCall, ToolInvoker } from "../tool-invoker.ts";
import { throwIfAborted, waitMs } from "./wait.ts";

export interface FakeToolOptions {
  /** From the call to the answer. Default 0. */
  readonly delayMs?: number | ((call: ToolCall) => number);
  /** The whole answer, or its text. Default: "OK". */
  readonly answer?: (call: ToolCall) => ToolAnswer | string;
}

export interface FakeToolInvoker extends ToolInvoker {
  /** Every call that was begun, oldest first. */
  readonly calls: readonly ToolCall[];
  /** Calls that were aborted before their answer. */
  readonly aborted: readonly string[];
}

export function completedAnswer(result: string): ToolAnswer {
  return {
    kind: "completed",
    result,
    responseType: "tool-response",
    reaction: null,
    updateCallState: null,
  };
}

/** Keeps to the timeout of each call as a real one does. */
export function openFakeToolInvoker(options: FakeToolOptions = {}): FakeToolInvoker {
  const { delayMs = 0, answer = () => "OK" } = options;
  const calls: ToolCall[] = [];
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

function timedOut(timeoutMs: number): ToolAnswer {
  const text = `The tool failed: timeout after ${String(timeoutMs / 1000)}s`;
  return { kind: "failed", cause: "timeout", text, errorDetails: text };
}
