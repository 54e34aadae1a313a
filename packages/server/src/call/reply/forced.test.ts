import type { ClientDataMessage } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { FORCED_MAX } from "./forced.ts";
import { testTool } from "../testing/fake-tools.ts";
import { joinedCall } from "../testing/scenario.ts";
import { callWithQuestion, rolesOf, toolResults, withTools } from "../testing/tool-calls.ts";

type Forced = Extract<ClientDataMessage, { readonly type: "forced_agent_message" }>;

function forced(content: string, changes: Partial<Forced> = {}): Forced {
  return {
    type: "forced_agent_message",
    content,
    toolCalls: [],
    knownToolResults: [],
    uninterruptible: false,
    urgency: "soon",
    threadId: "UI",
    ...changes,
  };
}

const toolCalls = [{ id: "mine", name: "lookUp", arguments: { what: "rooms" } }];

test("the agent says the content exactly, makes the calls, and continues with their results", () => {
  const call = withTools(testTool("lookUp"));
  call.llm.script = [{ text: "Three." }];
  call.run(320).sends(forced("Let me see.", { toolCalls })).run(6_000);
  expect(rolesOf(call)).toEqual([
    "agent: Let me see.",
    'tool_call: {"what":"rooms"}',
    "tool_result: All good.",
    "agent: Three.",
  ]);
  expect(call.llm.requests).toHaveLength(1);
});

test("known results answer without an invocation, and calls without words begin at once", () => {
  const call = withTools(testTool("lookUp"));
  const knownToolResults = [{ invocationId: "mine", result: "3 rooms" }];
  call.run(320).sends(forced("", { toolCalls, knownToolResults })).run(6_000);
  expect(call.tools.invoked).toEqual([]);
  expect(rolesOf(call).slice(0, 2)).toEqual(['tool_call: {"what":"rooms"}', "tool_result: 3 rooms"]);
});

test("soon waits for the agent, immediate cuts in and goes before what waits", () => {
  const call = callWithQuestion([], { text: "There are three rooms, all of them with a view of the sea." });
  call.runUntil(({ reply }) => reply?.begun === true).run(500);
  call.sends(forced("And breakfast.")).run(100);
  expect(call.state.reply?.purpose).toBe("answer");
  call.sends(forced("Fire!", { urgency: "immediate" })).run(6_000);
  expect(call.transcript.slice(2, 4)).toEqual(["agent: Fire!", "agent: And breakfast."]);
  expect(call.messages[1]?.metadata).toEqual({ interrupted: "true" });
});

test("what the user asked stays due when an immediate one cuts the answer, and with it the calls it promised", () => {
  const book = { calls: [{ name: "lookUp" }] };
  const text = "One moment, I am looking that up for you.";
  for (const medium of ["voice", "text"] as const) {
    const call = withTools(testTool("lookUp"));
    call.sends({ type: "set_output_medium", medium }).run(320);
    call.llm.script = [
      { ...book, text, pieceMs: 100 },
      { ...book, text: "I look now." },
      { text: "Three rooms." },
    ];
    call.says("Any rooms left?", 960).runUntil(({ reply }) => reply?.begun === true);
    call.run(200).sends(forced("The office closes soon.", { urgency: "immediate" }));
    const { toolRounds } = call.state.inputs;
    call.run(12_000);
    expect(toolRounds).toBe(0);
    expect(call.tools.invoked).toHaveLength(1);
    expect(call.transcript.slice(-3)).toEqual([
      "agent: The office closes soon.",
      "agent: I look now.",
      "agent: Three rooms.",
    ]);
  }
});

test("an immediate one that cuts a fixed text asks for nothing more", () => {
  const text = "Good morning, this is the hotel by the sea.";
  const firstSpeaker = { kind: "agent", text, prompt: null, delayMs: 0, uninterruptible: false } as const;
  const call = joinedCall({ firstSpeaker }).runUntil(({ reply }) => reply?.begun === true);
  call
    .run(300)
    .sends(forced("Fire!", { urgency: "immediate" }))
    .run(6_000);
  expect(call.llm.requests).toEqual([]);
  expect(call.transcript.at(-1)).toBe("agent: Fire!");
});

test("calls are made even if the words before them are cut short", () => {
  const call = withTools(testTool("lookUp"));
  call.run(320).sends(forced("Let me look that up for you right now.", { toolCalls }));
  call
    .runUntil(({ reply }) => reply?.begun === true)
    .run(300)
    .says("No wait", 960)
    .run(6_000);
  expect(call.tools.invoked).toHaveLength(1);
});

test("one that the user talked over before its first sound is said afterwards, its calls once", () => {
  const call = withTools(testTool("lookUp"));
  call.voice.delayMs = 900;
  const text = "Your card was charged twice.";
  call.run(500).sends(forced(text, { toolCalls })).run(200).says("hello there friend", 900).run(12_000);
  expect(call.transcript.filter((line) => line === `agent: ${text}`)).toHaveLength(1);
  expect(call.transcript[0]).toBe("user: hello there friend");
  expect(call.tools.invoked).toHaveLength(1);
});

test("what a failing playout left unheard is said afterwards, twice at most", () => {
  const text = "Your card was charged twice. Please check your account.";
  const once = withTools();
  once.voice.script = ["stall"];
  once
    .run(320)
    .sends(forced(text, { uninterruptible: true }))
    .run(30_000);
  expect(once.transcript.join(" ")).toContain("Please check your account.");
  const never = withTools();
  never.voice.script = Array.from({ length: 20 }, () => "stall" as const);
  never.run(320).sends(forced(text)).run(60_000);
  expect(never.state.forced).toEqual([]);
});

test("an uninterruptible one is said to its end", () => {
  const call = withTools();
  const text = "This call is recorded for training purposes.";
  call.run(320).sends(forced(text, { uninterruptible: true }));
  call
    .runUntil(({ reply }) => reply?.begun === true)
    .run(200)
    .says("No wait", 960)
    .run(8_000);
  expect(call.transcript).toContain(`agent: ${text}`);
});

test("the queue is bounded, and a message of nothing is refused", () => {
  const call = withTools().run(320);
  for (let n = 0; n < FORCED_MAX + 3; n += 1) call.sends(forced(`Message ${n}.`)).run(1);
  call.run(1_500).sends(forced(" ")).run(60_000);
  // The first is being said, and does not wait.
  expect(call.transcript).toHaveLength(FORCED_MAX + 1);
  expect(call.eventsOf("data_message.invalid")).toHaveLength(2);
});

describe("calls that cannot be carried out", () => {
  test("fail with their problem and never reach the tool; the others of the message are made", () => {
    const call = withTools(testTool("lookUp"), testTool("refund"));
    call.llm.script = [{ text: "Done." }];
    const message = forced("", {
      toolCalls: [{ name: "refund", arguments: { amount: 99_999 } }, ...toolCalls],
    });
    const problems = ["amount must be <= 10", null];
    call.run(320).post({ type: "dataMessageReceived", message, source: "client", problems });
    call.run(6_000);
    expect(call.tools.invoked.map(({ toolName }) => toolName)).toEqual(["lookUp"]);
    expect(toolResults(call).map(({ text }) => text)).toEqual([
      "The tool failed: amount must be <= 10",
      "All good.",
    ]);
    expect(call.eventsOf("tool.failed")).toHaveLength(1);
  });

  test.each([
    ["of the same tool are made", testTool("lookUp"), ["next", "lookUp"]],
    ["of a tool with other arguments fail", testTool("lookUp", { parameters: { type: "object" } }), ["next"]],
    ["of a tool that is gone fail", testTool("other"), ["next"]],
  ])("because the stage changed while they waited: those %s", (_what, next, invoked) => {
    const call = callWithQuestion([testTool("next"), testTool("lookUp")], {
      text: "One moment.",
      calls: [{ name: "next" }],
    });
    call.tools.script = [{ how: "answer", responseType: "new-stage", result: "{}", afterMs: 2_000 }];
    call.tools.stages = [{ stage: { stageId: "second", tools: [next] } }];
    call.runUntil(() => call.tools.invoked.length > 0);
    const message = forced("", { toolCalls });
    call.post({ type: "dataMessageReceived", message, source: "client", problems: [null] });
    call.run(9_000);
    expect(call.state.stage.stageId).toBe("second");
    expect(call.tools.invoked.map(({ toolName }) => toolName)).toEqual(invoked);
    expect(call.eventsOf("tool.failed")).toHaveLength(2 - invoked.length);
  });
});
