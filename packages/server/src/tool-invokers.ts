/** Which part of the service runs which kind of tool. */

import type { ToolAnswer, ToolCall, ToolInvoker, ToolTarget } from "./ports/tool-invoker.ts";

export type Invokers = Readonly<Record<ToolTarget["kind"], ToolInvoker>>;

/** Closes what it was given. */
export function dispatchTools(invokers: Invokers): ToolInvoker {
  return {
    invoke: (call, signal) => invokers[call.implementation.kind].invoke(call, signal),
    async close() {
      await Promise.all(Object.values(invokers).map((invoker) => invoker.close()));
    },
  };
}

/** What the service answers by itself; the other built-in tools are the engine's own. */
export const builtInTools: ToolInvoker = {
  invoke: (call: ToolCall) => Promise.resolve(answerBuiltIn(call)),
  close: () => Promise.resolve(),
};

function answerBuiltIn({ implementation }: ToolCall): ToolAnswer {
  const name = implementation.kind === "builtIn" ? implementation.builtIn : implementation.kind;
  // There are no corpora yet, so whichever is asked for does not exist.
  const reason = name === "queryCorpus" ? "corpus not found" : `no such tool: ${name}`;
  return { kind: "failed", cause: "error", text: `The tool failed: ${reason}`, errorDetails: reason };
}
