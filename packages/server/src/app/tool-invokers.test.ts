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
  const search = openFakeToolInvoker({ answer: () => "by search" });
  const own = {
    transfer: transfer.invoke.bind(transfer),
    queryCorpus: search.invoke.bind(search),
  };
  const tools = dispatchTools({ http, mcp, builtIn: builtInTools(own) });
  const mcpCall = call({ kind: "mcp", serverUrl: "https://a.example", headers: {}, toolName: "x" });
  expect(await tools.invoke(mcpCall, never)).toMatchObject({ kind: "completed", result: "by mcp" });
  expect([http.calls.length, mcp.calls.length]).toEqual([0, 1]);
  for (const builtIn of ["coldTransfer", "warmTransfer"]) {
    const answer = await tools.invoke(call({ kind: "builtIn", builtIn }), never);
    expect(answer).toMatchObject({ kind: "completed", result: "by carrier" });
  }
  const found = await tools.invoke(call({ kind: "builtIn", builtIn: "queryCorpus" }), never);
  expect(found).toMatchObject({ kind: "completed", result: "by search" });
});

it("refuses a name that it does not know", async () => {
  const nothing = () => Promise.reject(new Error("nothing is invoked"));
  const tools = builtInTools({ transfer: nothing, queryCorpus: nothing });
  const answer = await tools.invoke(call({ kind: "builtIn", builtIn: "leaveVoicemail" }), never);
  expect(answer).toMatchObject({ kind: "failed", text: "The tool failed: no such tool: leaveVoicemail" });
});
