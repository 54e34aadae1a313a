import { describe, expect, test } from "vitest";
import { NOT_UNDERSTOOD_NOTE } from "../history/history.ts";
import { BEGIN_STAGE_INSTRUCTION } from "../reply/reply.ts";
import type { Generation } from "../testing/fake-engines.ts";
import { testTool } from "../testing/fake-tools.ts";
import { joinedCall } from "../testing/scenario.ts";
import { callWithQuestion, rolesOf, toolResults } from "../testing/tool-calls.ts";

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
  const call = callWithQuestion([testTool("next")], NEXT, { text: "Which room?" });
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

test("what the settings of the new stage warn of is recorded in it", () => {
  const call = callWithQuestion([testTool("next")], NEXT, { text: "Which room?" });
  call.tools.script = [toStage];
  const warnings = [{ type: "model.replaced", text: "there is no model gpt here" }] as const;
  call.tools.stages = [{ stage: { ...SECOND, warnings } }];
  call.run(8_000);
  expect(call.eventsOf("model.replaced")).toMatchObject([
    { severity: "warning", stageId: "second", text: "there is no model gpt here" },
  ]);
});

test("the tokens of a request are counted for the stage that it was made in", () => {
  const call = callWithQuestion([testTool("next")], NEXT, { text: "Which room?" });
  call.tools.script = [toStage];
  call.tools.stages = [{ stage: SECOND }];
  const first = call.state.stage.stageId;
  call.run(8_000);
  expect(call.effectsOf("recordTokenCount")).toEqual([
    { type: "recordTokenCount", stageId: first, inputTokens: 100 },
    { type: "recordTokenCount", stageId: "second", inputTokens: 100 },
  ]);
});

test("a stage with messages of its own counts from 0, and the model sees no others", () => {
  const call = callWithQuestion([testTool("next")], NEXT, { text: "Which room?" });
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

describe("what the user said while the tool ran", () => {
  const toOwn = { how: "answer", responseType: "new-stage", result: "{}", afterMs: 2_300 } as const;
  const medium = { medium: "voice", invocationId: null, toolName: null } as const;
  const greeting = { role: "agent", text: "Sales here.", ...medium } as const;
  const begun = (initialMessages: readonly (typeof greeting)[], ...later: Generation[]) => {
    const call = callWithQuestion([testTool("next")], NEXT, { text: "Which room?" }, ...later);
    call.tools.script = [toOwn];
    call.tools.stages = [{ stage: SECOND, initialMessages }];
    return call.runUntil(({ toolRound }) => toolRound !== null);
  };

  test("is the end of what the next stage sees, and recorded once, where it was said", () => {
    const call = begun([greeting]).says("And with a balcony", 1_000).run(9_000);
    expect(call.llm.requests[1]).toMatchObject({ instruction: null });
    expect(call.llm.requests[1]?.messages).toEqual([
      { role: "agent", text: "Sales here." },
      { role: "user", text: "And with a balcony" },
    ]);
    const spoken = call.messages.filter(({ text }) => text === "And with a balcony");
    expect(spoken.map(({ stageId }) => stageId)).toEqual([call.first.stage.stageId]);
    expect(call.messages.slice(-2).map(({ index, text }) => [index, text])).toEqual([
      [0, "Sales here."],
      [1, "Which room?"],
    ]);
  });

  test("is there as a note where it was not understood", () => {
    const call = begun([greeting]);
    call.coughs(1_200).run(9_000);
    expect(call.llm.requests[1]?.messages.at(-1)).toEqual({ role: "user", text: NOT_UNDERSTOOD_NOTE });
  });

  test("does not bring what was answered before: a stage without any message is told to begin", () => {
    const call = begun([]).run(9_000);
    expect(call.llm.requests[1]).toMatchObject({ messages: [], instruction: BEGIN_STAGE_INSTRUCTION });
    expect(call.transcript.at(-1)).toBe("agent: Which room?");
  });

  test("is not brought again into a stage after that", () => {
    const call = begun([greeting], NEXT, { text: "Here I am." });
    call.tools.script = [toOwn, toOwn];
    call.tools.stages = [
      { stage: { ...SECOND, tools: [testTool("next")] }, initialMessages: [greeting] },
      { stage: { ...SECOND, stageId: "third" }, initialMessages: [greeting] },
    ];
    call.llm.script = [NEXT, { text: "Here I am." }];
    call.says("And with a balcony", 1_000).run(15_000);
    expect(call.llm.requests.map(({ messages }) => messages.at(-1)?.text)).toEqual([
      "Any rooms left?",
      "And with a balcony",
      "Sales here.",
    ]);
  });
});

test.each([
  [null, "The tool failed: the stage is not valid"],
  ["hang", "The tool failed: timeout after 5s"],
] as const)("a stage that is %j fails the tool, and the call continues in the old one", (prepared, text) => {
  const call = callWithQuestion([testTool("next")], NEXT, { text: "Sorry." });
  call.tools.script = [toStage];
  call.tools.stages = [prepared];
  call.run(12_000);
  expect(toolResults(call).map((result) => result.text)).toEqual([text]);
  expect(call.effectsOf("beginStage")).toEqual([]);
  expect(call.transcript.at(-1)).toBe("agent: Sorry.");
});

test("inactivity messages start over from the first in a new stage", () => {
  const inactivityMessages = ["Hello?", "Are you there?"].map(
    (text) => ({ afterMs: 3_000, text, endBehavior: "none" }) as const,
  );
  const tools = [testTool("next", { defaultReaction: "listens" })];
  const call = joinedCall({ stage: { tools, inactivityMessages } });
  call.tools.script = [toStage];
  call.tools.stages = [{ stage: { ...SECOND, inactivityMessages } }];
  call.run(5_000).sends({
    type: "forced_agent_message",
    content: "",
    toolCalls: [{ name: "next", arguments: {} }],
    knownToolResults: [],
    uninterruptible: false,
    urgency: "soon",
    threadId: "UI",
  });
  call.run(6_000);
  expect(call.effectsOf("beginStage")).toHaveLength(1);
  expect(call.transcript).toEqual(["agent: Hello?", "agent: Hello?"]);
});

test("of several the last new stage counts, and a hang-up wins over all", () => {
  const calls = [{ name: "next" }, { name: "next" }, { name: "next" }];
  const call = callWithQuestion([testTool("next")], { text: "", calls: calls.slice(1) }, { text: "Yes." });
  call.tools.script = [toStage, toStage];
  call.tools.stages = [{ stage: SECOND }, { stage: { ...SECOND, stageId: "third" } }];
  call.run(8_000);
  expect(call.effectsOf("beginStage").map(({ stage }) => stage.stageId)).toEqual(["third"]);

  const ends = callWithQuestion([testTool("next")], { text: "", calls });
  ends.tools.script = [toStage, { how: "answer", responseType: "hang-up", result: "" }, toStage];
  ends.tools.stages = [{ stage: SECOND }, { stage: SECOND }];
  ends.run(8_000);
  expect(ends.effectsOf("beginStage")).toEqual([]);
  expect(ends.effectsOf("endCall")[0]?.reason).toBe("agent_hangup");
  expect(rolesOf(ends).filter((role) => role.startsWith("tool_result"))).toHaveLength(3);
});
