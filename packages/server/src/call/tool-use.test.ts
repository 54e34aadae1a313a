import { expect, test } from "vitest";
import { testTool } from "./testing/fake-tools.ts";
import { joinedCall, type Scenario } from "./testing/scenario.ts";
import type { ToolPlan } from "./tool-plan.ts";

const roles = (call: Scenario) => call.messages.map(({ role, text }) => `${role}: ${text}`);

function withTools(...tools: readonly ToolPlan[]): Scenario {
  return joinedCall({
    stage: { tools },
    dataMessages: { toolUsed: true, invokingTool: true, callEvent: true },
  });
}

test("a call is run after the speech of its generation, and its result is in the next prompt", () => {
  const call = withTools(testTool("lookUp"));
  call.llm.script = [
    { text: "One moment, please.", calls: [{ name: "lookUp", arguments: { what: "rooms" } }] },
    { text: "There are three rooms." },
  ];
  call.tools.script = [{ how: "answer", result: "3 rooms" }];
  call.run(320).says("Any rooms left?", 960).run(8_000);
  const [asked] = call.tools.requests;
  expect(asked).toMatchObject({
    toolName: "lookUp",
    values: [{ name: "what", location: "body", value: "rooms" }],
  });
  const spokenMs = call.effects.find(
    ({ value }) => value.type === "recordMessage" && value.message.role === "agent",
  )?.atMs;
  expect(call.timesOf("invokeTool")).toEqual([spokenMs]);
  expect(roles(call)).toEqual([
    "user: Any rooms left?",
    "agent: One moment, please.",
    'tool_call: {"what":"rooms"}',
    "tool_result: 3 rooms",
    "agent: There are three rooms.",
  ]);
  const id = asked?.invocationId ?? "";
  expect(id).toBe("call_0e9f3a525b4e4b579d0c8e8b0a3c9f11_1");
  expect(call.llm.requests[1]?.messages).toEqual([
    { role: "user", text: "Any rooms left?" },
    { role: "agent", text: "One moment, please." },
    { role: "agent", text: "", toolCalls: [{ id, name: "lookUp", arguments: { what: "rooms" } }] },
    { role: "tool", invocationId: id, toolName: "lookUp", text: "3 rooms" },
  ]);
  expect(call.llm.requests[0]?.tools.map(({ name }) => name)).toEqual(["lookUp"]);
  expect(call.states).toEqual(["listening", "thinking", "speaking", "thinking", "speaking", "listening"]);
  const about = { toolName: "lookUp", invocationId: id, parameters: { what: "rooms" } };
  expect(call.messagesOf("invoking_tool")).toEqual([{ type: "invoking_tool", ...about }]);
  expect(call.messagesOf("tool_used")).toEqual([{ type: "tool_used", ...about, result: "3 rooms" }]);
});
