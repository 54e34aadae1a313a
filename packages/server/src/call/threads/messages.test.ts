import { describe, expect, test } from "vitest";
import type { ToolPlan } from "../../plan/tool-plan.ts";
import type { DataConnectionPlan } from "../../plan/data-connection-plan.ts";
import { builtInTool, testTool, type ToolRun } from "../testing/fake-tools.ts";
import { testPlan } from "../testing/plan.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";
import { callWithThreads, saidIn, send, spawn, statesOf, threadOf, toldOf } from "../testing/thread-calls.ts";
import { callWithQuestion } from "../testing/tool-calls.ts";
import { INBOX_MAX, SIDE_CALLS_MAX } from "./thread-limits.ts";

const sends = (dataMessage: object, reaction: "speaks" | "listens" = "speaks"): ToolRun => ({
  how: "answer",
  responseType: "send-to-thread",
  result: JSON.stringify({ callingThreadResultText: "Sent.", dataMessage }),
  reaction,
});
const text = (words: string, threadId: string, more: object = {}) => ({
  type: "user_text_message",
  text: words,
  threadId,
  ...more,
});
const tell = { text: "", calls: [{ name: "tell" }] };

function withTell(...more: ToolPlan[]): Scenario {
  return callWithThreads([testTool("tell"), ...more]);
}

describe("a tool that sends to a thread", () => {
  test("spawns one from the conversation, with its own result in the copy", () => {
    const call = callWithQuestion([testTool("tell")], tell, { text: "I look into it." });
    const task = { role: "MESSAGE_ROLE_USER", text: "Research it." };
    call.tools.script = [sends({ type: "spawn_thread", newThreadId: "a", additionalMessages: [task] })];
    call.run(8_000);
    expect(toldOf(call)).toEqual(["thread_spawned a"]);
    expect(call.messages.filter(({ role }) => role === "tool_result")).toMatchObject([
      { text: "Sent.", errorDetails: null },
    ]);
    expect(call.llm.sideRequests[0]?.request.messages.map(({ role, text: said }) => [role, said])).toEqual([
      ["user", "Any rooms left?"],
      ["agent", ""],
      ["tool", "Sent."],
      ["user", "Research it."],
    ]);
    expect(call.transcript.at(-1)).toBe("agent: I look into it.");
  });

  test.each([
    ["UI", "UI"],
    ["its parent", "_PARENT"],
  ])("of a side thread reaches %s, with its urgency", (_whom, threadId) => {
    const call = withTell();
    call.llm.sideScript = [tell];
    call.tools.script = [sends(text("Three rooms found.", threadId, { urgency: "immediate" }))];
    spawn(call, "a", "Look").run(3_000);
    expect(call.transcript[0]).toBe("user: Three rooms found.");
    expect(call.llm.requests[0]?.messages).toEqual([{ role: "user", text: "Three rooms found." }]);
    expect(saidIn(call, "a").slice(-2)).toEqual(["tool_result: Sent.", "agent: Noted."]);
    call.run(5_000);
    expect(call.transcript[1]).toMatch(/^agent: You said Three rooms found/);
  });

  test("of a thread of a thread reaches the one between", () => {
    const call = withTell();
    spawn(call, "a", "Wait").run(1_000);
    call.llm.sideScript = [tell];
    call.tools.script = [sends(text("Found.", "_PARENT"))];
    spawn(call, "b", "Look", { parentThreadId: "a" }).run(3_000);
    expect(saidIn(call, "a").slice(-2)).toEqual(["user: Found.", "agent: Noted."]);
    expect(call.transcript).toEqual([]);
  });

  test("may listen afterwards, and sends once its round is complete", () => {
    const call = withTell(testTool("slow"));
    call.llm.sideScript = [{ text: "", calls: [{ name: "tell" }, { name: "slow" }] }];
    call.tools.script = [
      sends(text("Found.", "UI", { urgency: "later" }), "listens"),
      { how: "answer", afterMs: 1_500, reaction: "listens" },
    ];
    spawn(call, "a", "Look").run(1_000);
    expect(call.transcript).toEqual([]);
    call.run(1_500);
    expect(call.transcript).toEqual(["user: Found."]);
    expect(call.llm.sideRequests).toHaveLength(1);
    expect(call.llm.requests).toEqual([]);
  });

  test.each<[string, object, string]>([
    ["a thread that does not exist", text("Hi", "nobody"), "thread_comms.non_existent_thread"],
    ["the parent of the conversation", text("Hi", "_PARENT"), "thread_comms.non_existent_thread"],
  ])("to %s has succeeded, and a warning says that nothing came of it", (_whom, message, type) => {
    const call = callWithQuestion([testTool("tell")], tell, { text: "Well." });
    call.tools.script = [sends(message)];
    call.run(6_000);
    expect(call.eventsOf(type)).toHaveLength(1);
    expect(call.eventsOf("tool.failed")).toEqual([]);
  });

  test.each([
    ["no JSON", "oops"],
    ["no message", '{"callingThreadResultText":"x"}'],
    ["a message for no thread", '{"dataMessage":{"type":"hang_up"}}'],
    ["a bad message", '{"dataMessage":{"type":"user_text_message","text":5}}'],
  ])("has failed with %s", (_what, result) => {
    const call = callWithQuestion([testTool("tell")], tell, { text: "Well." });
    call.tools.script = [{ how: "answer", responseType: "send-to-thread", result }];
    call.run(6_000);
    expect(call.eventsOf("tool.failed")).toHaveLength(1);
    expect(call.hasEnded).toBe(false);
  });

  test("may be a tool of the client or of the data connection", () => {
    const dataConnection: DataConnectionPlan = {
      websocketUrl: "wss://data.example/",
      headers: {},
      sharedSecrets: [],
      audio: null,
      dataMessages: { ...testPlan().dataMessages, dataConnectionToolInvocation: true },
    };
    const tools = (["client", "dataConnection"] as const).map((kind) =>
      testTool(kind, { implementation: { kind } }),
    );
    const call = joinedCall({ stage: { tools }, dataConnection });
    call.post({ type: "dataConnectionOpened" });
    call.run(320);
    call.llm.sideScript = [
      { text: "", calls: [{ name: "client" }, { name: "dataConnection" }] },
      { text: "Both." },
    ];
    call.tools.script = [sends(text("One", "UI")), sends(text("Two", "UI"))];
    spawn(call, "a", "Go").run(3_000);
    expect(call.transcript.slice(0, 2)).toEqual(["user: One", "user: Two"]);
    // The data connection gets the messages about threads as the client does.
    const told = call.effectsOf("sendDataConnectionMessage").map(({ message }) => message.type);
    expect(told).toContain("thread_spawned");
    expect(told).toContain("side_generation_completed");
  });
});

describe("what only the conversation may do", () => {
  const hangUp: ToolRun = { how: "answer", responseType: "hang-up", result: "{}" };
  const newStage: ToolRun = { how: "answer", responseType: "new-stage", result: "{}" };
  test.each<[string, ToolPlan, ToolRun | null, string]>([
    ["hang up by an answer", testTool("act"), hangUp, "end the call"],
    ["begin a stage", testTool("act"), newStage, "begin a stage"],
    ["hang up", builtInTool("hangUp", []), null, "end the call"],
    ["leave a voicemail", builtInTool("leaveVoicemail", []), null, "end the call"],
    ["play tones", builtInTool("playDtmfSounds", [], { digits: "1" }), null, "play tones"],
  ])("a side thread cannot %s", (_what, tool, run, what) => {
    const call = callWithThreads([tool]);
    call.llm.sideScript = [{ text: "", calls: [{ name: tool.name }] }];
    call.tools.script = run === null ? [] : [run];
    spawn(call, "a", "Act").run(8_000);
    expect(call.hasEnded).toBe(false);
    expect(call.effectsOf("prepareStage")).toEqual([]);
    expect(call.effectsOf("synthesize")).toEqual([]);
    expect(saidIn(call, "a").slice(-2)).toEqual([
      `tool_result: The tool failed: a side thread cannot ${what}`,
      "agent: Noted.",
    ]);
    expect(call.eventsOf("thread_comms.unsupported_call_change")).toMatchObject([
      { severity: "warning", extras: { threadId: "a" } },
    ]);
  });
});

describe("a forced message to a thread", () => {
  test("joins its messages without a generation", () => {
    const call = withTell();
    spawn(call, "a", null);
    send(call, { type: "forced_agent_message", content: "I am done.", threadId: "a" }).run(2_000);
    expect(statesOf(call)).toEqual({ a: { state: "IDLE", lastResponse: "I am done." } });
    expect(call.llm.sideRequests).toEqual([]);
    expect(call.transcript).toEqual([]);
  });

  test("makes its calls, of which known results are not invoked, after what is under way", () => {
    const call = withTell(testTool("known"));
    spawn(call, "a", "First");
    send(call, {
      type: "forced_agent_message",
      content: "",
      toolCalls: [{ name: "tell" }, { id: "k", name: "known" }],
      knownToolResults: [{ invocationId: "k", result: "as known" }],
      threadId: "a",
    }).run(3_000);
    expect(call.tools.invoked.map(({ toolName }) => toolName)).toEqual(["tell"]);
    expect(saidIn(call, "a")).toEqual([
      "user: First",
      "agent: Noted.",
      "tool_call: {}",
      "tool_call: {}",
      "tool_result: All good.",
      "tool_result: as known",
      "agent: Noted.",
    ]);
  });

  test("with nothing in it is dropped with a warning", () => {
    const call = withTell();
    spawn(call, "a", null);
    send(call, { type: "forced_agent_message", threadId: "a" });
    expect(call.eventsOf("data_message.invalid")).toHaveLength(1);
  });
});

describe("bounds", () => {
  test("messages that wait for a thread", () => {
    const call = callWithThreads();
    call.llm.sideScript = [{ text: "", end: "hang" }];
    spawn(call, "a", "Go");
    for (let n = 0; n < INBOX_MAX + 5; n += 1) send(call, text(`n${n}`, "a"));
    expect(threadOf(call, "a").inbox).toHaveLength(INBOX_MAX);
    expect(call.eventsOf("data_message.limited")).toMatchObject([{ extras: { threadId: "a" } }]);
  });

  test("tool calls of all threads in a call", () => {
    const call = callWithThreads([testTool("lookUp")]);
    const calls = Array.from({ length: 16 }, () => ({ name: "lookUp" }));
    call.llm.usualSide = () => ({ text: "", calls, firstMs: 1, pieceMs: 0 });
    call.tools.usual = { how: "answer", afterMs: 1, reaction: "listens" };
    for (let n = 0; n < SIDE_CALLS_MAX / 16 + 2; n += 1)
      spawn(call, "a", "Go", { ifExists: "replace" }).run(40);
    expect(call.tools.invoked).toHaveLength(SIDE_CALLS_MAX);
    expect(saidIn(call, "a").at(-2)).toBe(
      "tool_result: The tool failed: the threads of this call have called too many tools",
    );
  });
});

test("tools know of threads: their own id, all states, and their own messages and state", () => {
  const automatic = (["threadId", "threadStates", "conversationHistory", "callState"] as const).map(
    (known) => ({ name: known, location: "body" as const, known }),
  );
  const call = callWithThreads([testTool("ask", { automatic })], { initialState: { step: 1 } });
  spawn(call, "idle", "Rest").run(1_000);
  call.llm.sideScript = [
    { text: "", calls: [{ name: "ask" }] },
    { text: "", calls: [{ name: "ask" }] },
  ];
  call.tools.script = [{ how: "answer", updateCallState: { step: 2 } }];
  spawn(call, "a", "Ask").run(3_000);
  const known = (at: number) => {
    const values = call.tools.requests[at]?.values ?? [];
    return Object.fromEntries(values.map(({ name, value }) => [name, value]));
  };
  expect(known(0)).toMatchObject({
    threadId: "a",
    threadStates: { idle: { state: "IDLE", lastResponse: "Noted." }, a: { state: "CALLING_TOOL" } },
    conversationHistory: [{ role: "MESSAGE_ROLE_USER", text: "Ask" }],
    callState: { step: 1 },
  });
  expect(known(1)).toMatchObject({ callState: { step: 2 } });
  expect(known(1)["conversationHistory"]).toHaveLength(3);
  call.llm.script = [{ text: "", calls: [{ name: "ask" }] }];
  send(call, { type: "user_text_message", text: "And you?" }).run(1_000);
  expect(known(2)).toMatchObject({ threadId: "UI", callState: { step: 1 } });
  expect(Object.keys(Object(known(2)["threadStates"]))).toEqual(["idle", "a"]);
});
