import type { ToolInvocation } from "../tool-invoker.ts";
import { openFakeToolInvoker } from "./fake-tool-invoker.ts";
import { describeToolInvokerConformance } from "./tool-invoker-conformance.ts";

describeToolInvokerConformance("the fake", () => {
  const begun: (() => void)[] = [];
  const invoker = openFakeToolInvoker({
    delayMs: ({ toolName }) => {
      for (const tell of begun.splice(0)) tell();
      return toolName === "hang" ? 60_000 : 0;
    },
    answer: ({ toolName, values }) => {
      if (toolName === "flood") return "a".repeat(65_536);
      if (toolName !== "break") return String(values[0]?.value);
      return {
        kind: "failed",
        cause: "error",
        text: "The tool failed: on purpose",
        errorDetails: "on purpose",
      };
    },
  });
  return Promise.resolve({
    invoker,
    call: (toolName, { invocationId, text }): ToolInvocation => ({
      invocationId,
      callId: "c",
      accountId: "a",
      toolName,
      implementation: { kind: "builtIn", builtIn: toolName },
      values: [{ name: "text", location: "body", value: text }],
      timeoutMs: 10_000,
    }),
    runs: () => invoker.calls.length,
    begun: () => new Promise<void>((resolve) => begun.push(resolve)),
    close: () => Promise.resolve(),
  });
});
