import { describe, expect, test } from "vitest";
import { testTool, type ToolRun } from "../testing/fake-tools.ts";
import { callWithQuestion, rolesOf, toolResults, withTools } from "../testing/tool-calls.ts";
import { CALL_ENDED_FAILURE } from "./round.ts";

test("a call is run after the speech of its generation, and its result is in the next prompt", () => {
  const call = withTools(testTool("lookUp"));
  call.llm.script = [
    { text: "One moment, please.", calls: [{ name: "lookUp", arguments: { what: "rooms" } }] },
    { text: "There are three rooms." },
  ];
  call.tools.script = [{ how: "answer", result: "3 rooms" }];
  call.run(320).says("Any rooms left?", 960).run(8_000);
  const [requested] = call.tools.requests;
  expect(requested).toMatchObject({
    toolName: "lookUp",
    values: [{ name: "what", location: "body", value: "rooms" }],
  });
  const spokenMs = call.effects.find(
    ({ value }) => value.type === "recordMessage" && value.message.role === "agent",
  )?.atMs;
  expect(call.timesOf("invokeTool")).toEqual([spokenMs]);
  expect(rolesOf(call)).toEqual([
    "user: Any rooms left?",
    "agent: One moment, please.",
    'tool_call: {"what":"rooms"}',
    "tool_result: 3 rooms",
    "agent: There are three rooms.",
  ]);
  const id = requested?.invocationId ?? "";
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

const LOOK_UP = { text: "One moment.", calls: [{ name: "lookUp" }] } as const;

test("calls of one generation run together; all calls are recorded, then all results", () => {
  const calls = [{ name: "slow" }, { name: "quick" }];
  const call = callWithQuestion(
    [testTool("slow"), testTool("quick")],
    { text: "", calls },
    { text: "Done." },
  );
  call.tools.script = [
    { how: "answer", afterMs: 900, result: "one" },
    { how: "answer", afterMs: 100, result: "two" },
  ];
  call.run(6_000);
  const [slow, quick] = call.timesOf("invokeTool");
  expect(slow).toBe(quick);
  expect(rolesOf(call).slice(1)).toEqual([
    "tool_call: {}",
    "tool_call: {}",
    "tool_result: one",
    "tool_result: two",
    "agent: Done.",
  ]);
  expect(call.llm.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "agent", "tool", "tool"]);
});

test("what is said while a tool runs is answered together with its result", () => {
  const call = callWithQuestion([testTool("lookUp")], LOOK_UP, { text: "Three rooms by the sea." });
  call.tools.script = [{ how: "answer", afterMs: 2_400, result: "3 rooms" }];
  call
    .runUntil(({ toolRound }) => toolRound !== null)
    .says("By the sea", 640)
    .run(600);
  call.sends({ type: "user_text_message", text: "Quickly", urgency: "immediate", threadId: "UI" });
  expect(call.llm.requests).toHaveLength(1);
  call.run(6_000);
  expect(call.llm.requests).toHaveLength(2);
  expect(call.llm.requests[1]?.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
    "user: Any rooms left?",
    "agent: One moment.",
    "agent: ",
    "tool: 3 rooms",
    "user: By the sea",
    "user: Quickly",
  ]);
  expect(call.states).toEqual(["listening", "thinking", "speaking", "thinking", "speaking", "listening"]);
});

describe("an interrupted reply", () => {
  test("takes its calls back without a trace", () => {
    const call = callWithQuestion([testTool("lookUp")], {
      ...LOOK_UP,
      text: "I will look that up for you right now.",
    });
    call
      .runUntil(({ reply }) => reply?.begun === true)
      .run(600)
      .says("No wait", 960)
      .run(8_000);
    expect(call.tools.invoked).toEqual([]);
    expect(rolesOf(call).filter((role) => role.startsWith("tool"))).toEqual([]);
  });

  test("of calls alone waits out a cough, and then makes them", () => {
    const call = callWithQuestion([testTool("lookUp")], {
      text: "",
      calls: [{ name: "lookUp" }],
      firstMs: 900,
    });
    call.run(900).coughs(200).run(6_000);
    expect(call.tools.invoked).toHaveLength(1);
  });

  test("aborts speculative work, and ignores its late answer", () => {
    const tool = testTool("lookUp", { precomputable: true, implementation: { kind: "client" } });
    const call = callWithQuestion([tool], { ...LOOK_UP, text: "I will look that up for you right now." });
    call.tools.script = [{ how: "answer", afterMs: 2_000 }];
    call
      .runUntil(({ reply }) => reply?.begun === true)
      .run(300)
      .says("No wait", 960)
      .run(8_000);
    expect(call.tools.invoked).toHaveLength(1);
    expect(call.effectsOf("abortTool")).toHaveLength(1);
    expect(rolesOf(call).filter((role) => role.startsWith("tool"))).toEqual([]);
    expect(call.eventsOf("tool.failed")).toEqual([]);
    expect(call.messagesOf("invoking_tool")).toEqual([]);
  });
});

test("what began early for a dropped speculation is aborted and leaves no trace, also where it failed", () => {
  const tools = [
    testTool("noted", { precomputable: true, staticResponse: "Noted." }),
    testTool("broken", { precomputable: true }),
  ];
  const calls = [{ name: "noted" }, { name: "broken" }];
  const call = withTools(...tools);
  call.llm.script = [{ text: "", calls, firstMs: 10 }];
  call.tools.script = [
    { how: "fail", afterMs: 900 },
    { how: "fail", afterMs: 10 },
  ];
  call.run(320).says("I would like a room", 1_200).run(340).says("with a view of the sea", 1_500);
  call.run(6_000);
  expect(call.tools.invoked).toHaveLength(2);
  expect(call.effectsOf("abortTool").map(({ invocationId }) => invocationId)).toEqual([
    call.tools.invoked[0]?.invocationId,
  ]);
  expect(call.effectsOf("recordToolError")).toEqual([]);
  expect([...call.eventsOf("tool.failed"), ...call.eventsOf("tool.timeout")]).toEqual([]);
  expect(call.state.unawaitedTools).toEqual([]);
});

test("an early failure is noted once its call counts", () => {
  const call = callWithQuestion(
    [testTool("lookUp", { precomputable: true })],
    { ...LOOK_UP, firstMs: 10, pieceMs: 1 },
    { text: "Sorry." },
  );
  call.tools.script = [{ how: "fail", afterMs: 10 }];
  call.runUntil(({ reply }) => reply?.calls[0]?.progress.kind === "answered");
  expect(call.eventsOf("tool.failed")).toEqual([]);
  call.run(8_000);
  expect(call.eventsOf("tool.failed")).toHaveLength(1);
  expect(call.effectsOf("recordToolError")).toHaveLength(1);
});

test("a precomputable tool runs while the user may still continue, and its result counts once the speech is over", () => {
  const call = callWithQuestion(
    [testTool("lookUp", { precomputable: true })],
    { ...LOOK_UP, firstMs: 10, pieceMs: 1 },
    { text: "Three." },
  );
  call.tools.script = [{ how: "answer", afterMs: 10, result: "3 rooms" }];
  call.run(8_000);
  const spoken = call.effects.findIndex(({ value }) => value.type === "speak");
  expect(call.effects.findIndex(({ value }) => value.type === "invokeTool")).toBeLessThan(spoken);
  expect(rolesOf(call).slice(1)).toEqual([
    "agent: One moment.",
    "tool_call: {}",
    "tool_result: 3 rooms",
    "agent: Three.",
  ]);
});

describe("failures", () => {
  test.each<[string, ToolRun, string, string]>([
    [
      "an error",
      { how: "fail", text: "The tool failed: HTTP 404" },
      "The tool failed: HTTP 404",
      "tool.failed",
    ],
    ["no answer", { how: "hang" }, "The tool failed: timeout after 2.5s", "tool.timeout"],
    [
      "a hang-up that cannot be read",
      { how: "answer", responseType: "hang-up", result: '{"strict":"maybe"}' },
      "The tool failed: its hang-up could not be read",
      "tool.failed",
    ],
    [
      "a message to a thread that cannot be read",
      { how: "answer", responseType: "send-to-thread", result: "{}" },
      "The tool failed: its message to a thread could not be read",
      "tool.failed",
    ],
  ])("%s is reported to the model, recorded and counted", (_, run, text, type) => {
    const call = callWithQuestion([testTool("lookUp", { defaultReaction: "listens" })], LOOK_UP, {
      text: "Sorry.",
    });
    call.tools.script = [run];
    call.run(10_000);
    expect(toolResults(call).map((result) => result.text)).toEqual([text]);
    const errorDetails = toolResults(call)[0]?.errorDetails;
    expect(errorDetails).toBeTruthy();
    expect(call.messagesOf("tool_used")).toMatchObject([{ result: text, errorDetails }]);
    expect(call.eventsOf(type)).toHaveLength(1);
    expect(call.effectsOf("recordToolError")).toHaveLength(1);
    expect(call.transcript.at(-1)).toBe("agent: Sorry.");
  });

  test("an adapter has a second beyond the timeout to report it", () => {
    const call = callWithQuestion([testTool("lookUp")], LOOK_UP, { text: "Sorry." });
    call.tools.script = [{ how: "fail", afterMs: 3_000, text: "The tool failed: the server was too slow" }];
    call.run(10_000);
    expect(toolResults(call).map(({ text }) => text)).toEqual(["The tool failed: the server was too slow"]);
  });

  test("a call that cannot be carried out is never invoked", () => {
    const calls = [{ name: "lookUp", problem: "what is missing" }, { name: "other" }];
    const call = callWithQuestion([testTool("lookUp")], { text: "", calls }, { text: "Sorry." });
    call.run(6_000);
    expect(call.tools.invoked).toEqual([]);
    const texts = ["The tool failed: what is missing", "The tool failed: there is no such tool"];
    expect(toolResults(call).map(({ text }) => text)).toEqual(texts);
    expect(call.messagesOf("tool_used").map(({ result }) => result)).toEqual(texts);
  });

  test("a second, a late and an unknown answer are warnings and nothing else", () => {
    const call = callWithQuestion([testTool("lookUp")], LOOK_UP, { text: "Three." });
    call.tools.script = [{ how: "twice", result: "3 rooms" }];
    call.run(6_000);
    call.sends({
      type: "client_tool_result",
      invocationId: "nobody",
      result: "x",
      responseType: "tool-response",
    });
    expect(toolResults(call)).toHaveLength(1);
    expect(call.eventsOf("tool.failed")).toHaveLength(2);
    expect(call.effectsOf("recordToolError")).toEqual([]);
  });

  test("the end of the call keeps what is there and gives up the rest", () => {
    const calls = [{ name: "quick" }, { name: "slow" }];
    const call = callWithQuestion([testTool("quick"), testTool("slow")], { text: "", calls });
    call.tools.script = [{ how: "answer", afterMs: 100, result: "done" }, { how: "hang" }];
    call.runUntil(({ toolRound }) => toolRound?.calls[0]?.progress.kind === "answered");
    call.post({ type: "transportHungUp" });
    expect(toolResults(call).map(({ text }) => text)).toEqual(["done", CALL_ENDED_FAILURE]);
    expect(call.messagesOf("tool_used").map(({ result }) => result)).toEqual(["done", CALL_ENDED_FAILURE]);
    expect(call.effectsOf("abortTool")).toHaveLength(1);
  });
});

describe("reactions", () => {
  test.each([
    ["speaks", "One moment.", 2],
    ["listens", "One moment.", 1],
    ["speaks-once", "One moment.", 1],
    ["speaks-once", "", 2],
  ] as const)("%s after %j: %i generations", (defaultReaction, text, generations) => {
    const call = callWithQuestion(
      [testTool("note", { defaultReaction })],
      { text, calls: [{ name: "note" }] },
      { text: "Yes." },
    );
    call.run(8_000);
    expect(call.llm.requests).toHaveLength(generations);
    expect(call.state.shown).toBe("listening");
  });

  test("the answer's own reaction wins, and one of several that speaks is enough", () => {
    const calls = [{ name: "note" }, { name: "note" }];
    const call = callWithQuestion(
      [testTool("note", { defaultReaction: "listens" })],
      { text: "", calls },
      { text: "Yes." },
    );
    call.tools.script = [{ how: "answer" }, { how: "answer", reaction: "speaks" }];
    call.run(8_000);
    expect(call.llm.requests).toHaveLength(2);
  });
});

test("the state of the call is merged, and recorded with the result that changed it", () => {
  const automatic = [{ name: "state", location: "body", known: "callState" }] as const;
  const call = callWithQuestion(
    [testTool("note", { automatic })],
    { text: "", calls: [{ name: "note" }] },
    { text: "", calls: [{ name: "note" }] },
  );
  call.tools.script = [
    { how: "answer", updateCallState: { a: 1, b: { c: 2 } } },
    { how: "answer", updateCallState: { a: null, huge: "x".repeat(70_000) } },
  ];
  call.run(8_000);
  expect(toolResults(call).map(({ callState }) => callState)).toEqual([{ a: 1, b: { c: 2 } }, null]);
  expect(call.tools.requests[1]?.values).toEqual([
    { name: "state", location: "body", value: { a: 1, b: { c: 2 } } },
  ]);
  expect(call.state.callState).toEqual({ a: 1, b: { c: 2 } });
  expect(call.eventsOf("tool.failed")).toHaveLength(1);
});

test("a model that keeps calling tools must answer by itself after sixteen rounds", () => {
  const call = withTools(testTool("lookUp"));
  call.llm.usual = () => ({ text: "", calls: [{ name: "lookUp" }] });
  call.run(320).says("Any rooms left?", 960).run(30_000);
  expect(call.tools.invoked).toHaveLength(16);
  expect(call.eventsOf("llm.failed").filter(({ text }) => text.startsWith("16 rounds"))).toHaveLength(1);
  expect(call.llm.requests).toHaveLength(17);
  expect(call.llm.requests.map(({ tools }) => tools.length)).toEqual([...Array<number>(16).fill(1), 0]);
  expect(call.state.shown).toBe("listening");
  call.says("Go on then", 960).run(300);
  expect(call.llm.requests.at(-1)?.tools).toHaveLength(1);
});

test("an answer may hang up, with words before it", () => {
  const call = callWithQuestion([testTool("lookUp")], LOOK_UP);
  call.tools.script = [
    { how: "answer", responseType: "hang-up", result: '{"message":"We are closed. Goodbye."}' },
  ];
  call.run(10_000);
  expect(call.transcript.at(-1)).toBe("agent: We are closed. Goodbye.");
  expect(call.effectsOf("endCall")[0]?.reason).toBe("agent_hangup");
});
