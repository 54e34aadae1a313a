import { expect, it } from "vitest";
import type { ToolInvocation, ToolTarget } from "../ports/tool-invoker.ts";
import { openFakeToolInvoker } from "../ports/testing/fake-tool-invoker.ts";
import { builtInTools, dispatchTools } from "./tool-invokers.ts";

const never = new AbortController().signal;

function call(implementation: ToolTarget): ToolInvocation {
  const ids = { invocationId: "i", callId: "c", accountId: "a", toolName: "t" };
  return { ...ids, implementation, values: [], timeoutMs: 1000 };
}

it("gives each tool to the invoker of its kind", async () => {
  const http = openFakeToolInvoker({ answer: () => "by http" });
  const mcp = openFakeToolInvoker({ answer: () => "by mcp" });
  const transfer = openFakeToolInvoker({ answer: () => "by carrier" });
  const tools = dispatchTools({ http, mcp, builtIn: builtInTools(transfer.invoke.bind(transfer)) });
  const mcpCall = call({ kind: "mcp", serverUrl: "https://a.example", headers: {}, toolName: "x" });
  expect(await tools.invoke(mcpCall, never)).toMatchObject({ kind: "completed", result: "by mcp" });
  expect([http.calls.length, mcp.calls.length]).toEqual([0, 1]);
  for (const builtIn of ["coldTransfer", "warmTransfer"]) {
    const answer = await tools.invoke(call({ kind: "builtIn", builtIn }), never);
    expect(answer).toMatchObject({ kind: "completed", result: "by carrier" });
  }
});

it("knows no corpus", async () => {
  const transfer = () => Promise.reject(new Error("nothing is transferred"));
  const answer = await builtInTools(transfer).invoke(
    call({ kind: "builtIn", builtIn: "queryCorpus" }),
    never,
  );
  expect(answer).toMatchObject({ kind: "failed", text: "The tool failed: corpus not found" });
});
