import { expect, test } from "vitest";
import type { LlmMessage, LlmTool } from "@parley/schema";
import { llmRequest } from "../../ports/testing/llm-conformance.ts";
import { chooseTool, readOut } from "./tool-choice.ts";

function tool(name: string, properties: object = {}, required: readonly string[] = []): LlmTool {
  return { name, description: "", parameters: { type: "object", properties, required } };
}

const WALK = tool(
  "goForward",
  { meters: { type: "number" }, unit: { type: "string", enum: ["meters", "feet"] } },
  ["meters"],
);

function chosen(text: string, ...tools: LlmTool[]) {
  const call = chooseTool(llmRequest({ messages: [{ role: "user", text }], tools }));
  return call && { name: call.name, arguments: call.arguments };
}

test.each<[string, LlmTool, object | null]>([
  ["Go forward ten meters.", WALK, { meters: 10, unit: "meters" }],
  ["go forward twenty five", WALK, { meters: 25 }],
  ["go forward", WALK, null],
  ["go back ten meters", WALK, null],
  ["forward go ten", WALK, null],
  ["please hang up now", tool("hangUp", { reason: { type: "string" } }), {}],
  ["Well, goodbye!", tool("hang-up"), {}],
  ["goodbye", tool("book_table"), null],
  [
    "Book table for two",
    tool("book_table", { note: { type: "string" } }, ["note"]),
    { note: "Book table for two" },
  ],
  ["zone a", tool("zone", { which: { enum: ["A", "B"] } }, ["which"]), { which: "A" }],
  ["zone c", tool("zone", { which: { enum: ["A", "B"] } }, ["which"]), null],
  ["anything", tool("___"), null],
])("%s", (text, offered, wanted) => {
  expect(chosen(text, offered)).toEqual(wanted && { name: offered.name, arguments: wanted });
});

test("the first tool that can be called is, and only for the caller's words", () => {
  expect(chosen("go forward ten", tool("other"), WALK)?.name).toBe("goForward");
  expect(chosen("go forward ten")).toBeNull();
  const messages: LlmMessage[] = [
    { role: "user", text: "go forward ten" },
    { role: "agent", text: "go forward ten" },
  ];
  expect(chooseTool(llmRequest({ messages, tools: [WALK] }))).toBeNull();
});

test("results since the caller's last words are read out, up to a limit", () => {
  const result = (text: string): LlmMessage => ({ role: "tool", invocationId: "i", toolName: "t", text });
  const user: LlmMessage = { role: "user", text: "go" };
  expect(readOut([user])).toBeNull();
  expect(readOut([result("Old."), user])).toBeNull();
  expect(readOut([user, result("OK")])).toBe("Done.");
  expect(readOut([user, result("You are at the door."), result("")])).toBe("You are at the door. Done.");
  expect(readOut([user, result("word ".repeat(200))])).toHaveLength(200);
  expect(readOut([user, result("Done."), { role: "agent", text: "Well." }])).toBeNull();
});
