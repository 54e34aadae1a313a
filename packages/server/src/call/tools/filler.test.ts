import { expect, test } from "vitest";
import type { ToolPlan } from "../../plan/tool-plan.ts";
import { testTool } from "../testing/fake-tools.ts";
import { callWithQuestion, rolesOf, withTools } from "../testing/tool-calls.ts";
import { FILLER_AFTER_MS } from "./filler.ts";

const MOMENT = "One moment, please.";
const search = (changes: Partial<ToolPlan> = {}): ToolPlan =>
  testTool("queryCorpus", {
    implementation: { kind: "builtIn", builtIn: "queryCorpus" },
    timeoutMs: 20_000,
    ...changes,
  });
const CALL = { text: "", calls: [{ name: "queryCorpus" }] } as const;
const ANSWER = { text: "Three rooms by the sea." } as const;

test.each([FILLER_AFTER_MS])("a search that takes longer than %i ms says so once", (afterMs) => {
  const call = callWithQuestion([search()], CALL, ANSWER);
  call.tools.script = [{ how: "answer", afterMs: 8_000, result: "3 rooms" }];
  call.run(14_000);
  expect(rolesOf(call)).toEqual([
    "user: Any rooms left?",
    "tool_call: {}",
    `agent: ${MOMENT}`,
    "tool_result: 3 rooms",
    "agent: Three rooms by the sea.",
  ]);
  const spoken = call.timesOf("synthesize")[0] ?? 0;
  expect(spoken - (call.timesOf("invokeTool")[0] ?? 0)).toBeGreaterThanOrEqual(afterMs);
  expect(call.llm.requests[1]?.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
    "user: Any rooms left?",
    "agent: ",
    "tool: 3 rooms",
    `agent: ${MOMENT}`,
  ]);
});

test.each<[string, ToolPlan, string, number]>([
  ["the search is quick", search(), "", 600],
  ["the agent spoke right before", search(), "Let me see.", 4_000],
  ["another tool runs", testTool("queryCorpus"), "", 4_000],
])("nothing is said where %s", (_what, tool, text, afterMs) => {
  const call = callWithQuestion([tool], { ...CALL, text }, ANSWER);
  call.tools.script = [{ how: "answer", afterMs, result: "3 rooms" }];
  call.run(10_000);
  expect(rolesOf(call)).not.toContain(`agent: ${MOMENT}`);
  expect(rolesOf(call).at(-1)).toBe("agent: Three rooms by the sea.");
});

test("is said in the language of the stage", () => {
  const call = withTools(search());
  call.state = { ...call.state, stage: { ...call.state.stage, languageHint: "de" } };
  call.llm.script = [CALL, ANSWER];
  call.run(320).says("Noch Zimmer frei?", 960);
  call.tools.script = [{ how: "answer", afterMs: 5_000, result: "3" }];
  call.run(10_000);
  expect(rolesOf(call)).toContain("agent: Einen Moment, bitte.");
});

test("can be interrupted, and the search goes on", () => {
  const call = callWithQuestion([search()], CALL, ANSWER);
  call.tools.script = [{ how: "answer", afterMs: 8_000, result: "3 rooms" }];
  call
    .runUntil(({ reply }) => reply?.purpose === "filler" && reply.begun)
    .run(200)
    .says("By the sea please", 1_280)
    .run(12_000);
  expect(call.tools.invoked).toHaveLength(1);
  expect(rolesOf(call)).toContain("tool_result: 3 rooms");
  expect(rolesOf(call)).not.toContain(`agent: ${MOMENT}`);
  expect(rolesOf(call).at(-1)).toBe("agent: Three rooms by the sea.");
});

test("results that come first drop it", () => {
  const call = callWithQuestion([search()], CALL, ANSWER);
  call.tools.script = [{ how: "hang" }];
  call.runUntil(({ reply }) => reply?.purpose === "filler" && !reply.begun);
  const invocationId = call.tools.requests[0]?.invocationId ?? "";
  const found = { kind: "completed", result: "3 rooms", responseType: "tool-response" } as const;
  call.post({
    type: "toolFinished",
    invocationId,
    outcome: { ...found, reaction: null, updateCallState: null },
  });
  call.run(8_000);
  expect(rolesOf(call)).not.toContain(`agent: ${MOMENT}`);
  expect(rolesOf(call).at(-1)).toBe("agent: Three rooms by the sea.");
});

test("results that come while it is said are answered after it", () => {
  const call = callWithQuestion([search()], CALL, ANSWER);
  call.tools.script = [{ how: "answer", afterMs: FILLER_AFTER_MS + 1_100, result: "3 rooms" }];
  call.run(10_000);
  expect(rolesOf(call).slice(-2)).toEqual([expect.any(String), "agent: Three rooms by the sea."]);
  expect(rolesOf(call)).toContain(`agent: ${MOMENT}`);
});
