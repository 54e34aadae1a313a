import { expect, test } from "vitest";
import { testTool } from "./testing/fake-tools.ts";
import { askedCall, rolesOf, toolResults } from "./testing/tool-calls.ts";

const NEXT = { text: "One moment.", calls: [{ name: "next" }] } as const;
const SECOND = {
  stageId: "second",
  systemPrompt: "You book rooms.",
  tools: [testTool("book")],
  temperature: 0.5,
};
const toStage = {
  how: "answer",
  responseType: "new-stage",
  result: '{"systemPrompt":"You book rooms."}',
} as const;

test("an answer begins the next stage, which inherits messages and state", () => {
  const call = askedCall([testTool("next")], NEXT, { text: "Which room?" });
  call.tools.script = [{ ...toStage, updateCallState: { step: 2 } }];
  call.tools.stages = [{ stage: SECOND, toolResultText: "Moved on." }];
  const first = call.state.stage.stageId;
  call.run(8_000);
  expect(call.effectsOf("prepareStage")[0]).toMatchObject({
    document: toStage.result,
    from: { stageId: first },
  });
  expect(call.effectsOf("beginStage")).toMatchObject([
    { stage: { stageId: "second" }, inheritsMessages: true },
  ]);
  expect(call.messages.map(({ stageId, index, role }) => [stageId, index, role])).toEqual([
    [first, 0, "user"],
    [first, 1, "agent"],
    [first, 2, "tool_call"],
    [first, 3, "tool_result"],
    ["second", 4, "agent"],
  ]);
  expect(toolResults(call)[0]).toMatchObject({ text: "Moved on.", callState: { step: 2 } });
  const request = call.llm.requests[1];
  expect(request).toMatchObject({
    systemPrompt: "You book rooms.",
    temperature: 0.5,
    tools: [{ name: "book" }],
  });
  expect(request?.messages.map(({ role }) => role)).toEqual(["user", "agent", "agent", "tool"]);
  expect(call.state.callState).toEqual({ step: 2 });
  expect(call.eventsOf("stage.changed")[0]).toMatchObject({
    stageId: "second",
    extras: { from: first, to: "second" },
  });
});

test("a stage with messages of its own counts from 0, and the model sees no others", () => {
  const call = askedCall([testTool("next")], NEXT, { text: "Which room?" });
  call.tools.script = [toStage];
  const medium = { medium: "text", invocationId: null, toolName: null } as const;
  const initialMessages = [{ role: "user", text: "I would like to book.", ...medium }] as const;
  call.tools.stages = [{ stage: SECOND, initialMessages, initialState: { fresh: true } }];
  call.run(8_000);
  expect(call.messages.slice(4).map(({ stageId, index, text }) => [stageId, index, text])).toEqual([
    ["second", 0, "I would like to book."],
    ["second", 1, "Which room?"],
  ]);
  expect(call.llm.requests[1]?.messages).toEqual([{ role: "user", text: "I would like to book." }]);
  expect(call.state.callState).toEqual({ fresh: true });
});

test.each([
  [null, "The tool failed: the stage is not valid"],
  ["hang", "The tool failed: timeout after 5s"],
] as const)("a stage that is %j fails the tool, and the call goes on in the old one", (prepared, text) => {
  const call = askedCall([testTool("next")], NEXT, { text: "Sorry." });
  call.tools.script = [toStage];
  call.tools.stages = [prepared];
  call.run(12_000);
  expect(toolResults(call).map((result) => result.text)).toEqual([text]);
  expect(call.effectsOf("beginStage")).toEqual([]);
  expect(call.transcript.at(-1)).toBe("agent: Sorry.");
});

test("of several the last new stage counts, and a hang-up wins over all", () => {
  const calls = [{ name: "next" }, { name: "next" }, { name: "next" }];
  const call = askedCall([testTool("next")], { text: "", calls: calls.slice(1) }, { text: "Yes." });
  call.tools.script = [toStage, toStage];
  call.tools.stages = [{ stage: SECOND }, { stage: { ...SECOND, stageId: "third" } }];
  call.run(8_000);
  expect(call.effectsOf("beginStage").map(({ stage }) => stage.stageId)).toEqual(["third"]);

  const ends = askedCall([testTool("next")], { text: "", calls });
  ends.tools.script = [toStage, { how: "answer", responseType: "hang-up", result: "" }, toStage];
  ends.tools.stages = [{ stage: SECOND }, { stage: SECOND }];
  ends.run(8_000);
  expect(ends.effectsOf("beginStage")).toEqual([]);
  expect(ends.effectsOf("endCall")[0]?.reason).toBe("agent_hangup");
  expect(rolesOf(ends).filter((role) => role.startsWith("tool_result"))).toHaveLength(3);
});
