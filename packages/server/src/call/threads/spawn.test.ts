import { ClientDataMessage } from "@parley/schema";
import { describe, expect, test } from "vitest";
import type { ToolRun } from "../testing/fake-tools.ts";
import { testTool } from "../testing/fake-tools.ts";
import { joinedCall } from "../testing/scenario.ts";
import { callWithThreads, saidIn, send, spawn, statesOf, threadOf, toldOf } from "../testing/thread-calls.ts";
import { callWithQuestion } from "../testing/tool-calls.ts";
import { THREADS_LIVE_MAX, THREADS_SPAWNED_MAX } from "./thread-limits.ts";

const HANG: ToolRun = { how: "hang" };

describe("a thread that is spawned", () => {
  test("copies messages, tools and call state, and works beside the conversation", () => {
    const call = callWithThreads([testTool("lookUp")], { initialState: { guest: "Ann" } });
    call.says("Good morning", 960).run(8_000);
    const before = call.transcript;
    spawn(call, "research", "Find three hotels.").run(2_000);
    expect(toldOf(call)).toEqual(["thread_spawned research"]);
    const [asked] = call.llm.sideRequests;
    expect(asked).toMatchObject({ threadId: "research", generationId: 1 });
    const { request } = asked!;
    const spoken = call.llm.requests[0];
    expect(request).toMatchObject({
      model: spoken?.model,
      systemPrompt: spoken?.systemPrompt,
      tools: spoken?.tools,
      instruction: null,
    });
    expect(request.messages.map(({ text }) => text)).toEqual([
      "Good morning",
      expect.stringContaining("You said Good morning"),
      "Find three hotels.",
    ]);
    expect(threadOf(call, "research").callState).toEqual({ guest: "Ann" });
    expect(call.messagesOf("side_generation_delta").map(({ delta }) => delta)).toEqual(["Note", "d."]);
    expect(call.messagesOf("side_generation_completed")).toEqual([
      { type: "side_generation_completed", threadId: "research", text: "Noted.", toolCalls: [] },
    ]);
    expect(statesOf(call)).toEqual({ research: { state: "IDLE", lastResponse: "Noted." } });
    // Nothing of it was said, shown as speech, or recorded as a message of the call.
    expect(call.transcript).toEqual(before);
    expect(call.messages).toHaveLength(2);
    expect(call.llm.requests).toHaveLength(1);
    expect(call.eventsOf("side_generation.completed")).toMatchObject([
      {
        severity: "info",
        extras: { threadId: "research", inputTokens: 100, outputTokens: 20, toolCalls: 0 },
      },
    ]);
  });

  test("copies what the agent is saying as far as it was heard", () => {
    const call = joinedCall();
    call.llm.script = [{ text: "The hotel by the sea has forty rooms. All of them are quiet." }];
    call
      .run(320)
      .says("Tell me", 640)
      .runUntil(({ reply }) => (reply?.segments[0]?.heardChars ?? 0) > 12);
    spawn(call, "a", null);
    const [, heard = ""] = saidIn(call, "a");
    expect(heard).toMatch(/^agent: The hotel/);
    expect(heard).not.toContain("quiet");
    expect(statesOf(call)).toMatchObject({ a: { state: "IDLE" } });
    expect(call.run(8_000).llm.sideRequests).toEqual([]);
  });

  test("copies another thread, of which it knows the parent", () => {
    const call = callWithThreads();
    call.llm.sideScript = [{ text: "One." }, { text: "Two." }];
    spawn(call, "a", "First").run(1_000);
    spawn(call, "b", "Second", { parentThreadId: "a" }).run(1_000);
    expect(saidIn(call, "b")).toEqual(["user: First", "agent: One.", "user: Second", "agent: Two."]);
    expect(saidIn(call, "a")).toEqual(["user: First", "agent: One."]);
    expect(threadOf(call, "b").parentId).toBe("a");
  });
});

describe("the state at the start comes from the last message", () => {
  test.each<[string, object[], string]>([
    ["nothing", [], "IDLE"],
    ["an agent's message", [{ role: "MESSAGE_ROLE_AGENT", text: "Hello." }], "IDLE"],
    ["a user's message", [{ role: "MESSAGE_ROLE_USER", text: "Hello." }], "GENERATING"],
    [
      "a tool's result",
      [
        { role: "MESSAGE_ROLE_TOOL_CALL", invocationId: "x", toolName: "lookUp", text: "{}" },
        { role: "MESSAGE_ROLE_TOOL_RESULT", invocationId: "x", toolName: "lookUp", text: "3 rooms" },
      ],
      "GENERATING",
    ],
    [
      "a tool call",
      [{ role: "MESSAGE_ROLE_TOOL_CALL", toolName: "lookUp", text: '{"what":"rooms"}' }],
      "CALLING_TOOL",
    ],
  ])("%s", (_what, additionalMessages, state) => {
    const call = callWithThreads([testTool("lookUp")]);
    call.tools.script = [HANG];
    send(call, { type: "spawn_thread", newThreadId: "a", additionalMessages });
    expect(statesOf(call)).toMatchObject({ a: { state } });
    expect(call.llm.sideRequests).toHaveLength(state === "GENERATING" ? 1 : 0);
  });
});

test("tool calls at the end of the messages are made, with ids of their own, and their results are answered", () => {
  const call = callWithThreads([testTool("lookUp")]);
  call.tools.script = [{ how: "answer", result: "3 rooms" }];
  const given = { invocationId: "x", toolName: "lookUp", text: '{"what":"sea"}' };
  const made = { role: "MESSAGE_ROLE_TOOL_CALL", ...given };
  send(call, { type: "spawn_thread", newThreadId: "a", additionalMessages: [made] }).run(2_000);
  const [requested] = call.tools.requests;
  expect(requested).toMatchObject({ toolName: "lookUp", values: [{ name: "what", value: "sea" }] });
  expect(requested?.invocationId).not.toBe("x");
  const id = requested?.invocationId;
  expect(call.llm.sideRequests[0]?.request.messages).toEqual([
    { role: "agent", text: "", toolCalls: [{ id, name: "lookUp", arguments: { what: "sea" } }] },
    { role: "tool", invocationId: id, toolName: "lookUp", text: "3 rooms" },
  ]);
  expect(call.messagesOf("invoking_tool")).toMatchObject([{ invocationId: id, toolName: "lookUp" }]);
  expect(call.messagesOf("tool_used")).toMatchObject([{ invocationId: id, result: "3 rooms" }]);
  // They are messages of the thread alone.
  expect(call.messages).toEqual([]);
});

test("calls whose arguments were found wrong are not made", () => {
  const call = callWithThreads([testTool("lookUp")]);
  const made = { role: "MESSAGE_ROLE_TOOL_CALL", toolName: "lookUp", text: "{}" };
  const sent = { type: "spawn_thread", newThreadId: "a", additionalMessages: [made] };
  const message = ClientDataMessage.parse(sent);
  call.post({ type: "dataMessageReceived", message, source: "client", problems: ["what is missing"] });
  call.run(2_000);
  expect(call.tools.requests).toEqual([]);
  expect(saidIn(call, "a")).toContain("tool_result: The tool failed: what is missing");
});

describe("calls that are open when a thread is copied", () => {
  function open() {
    const asks = { text: "", calls: [{ name: "slow" }] };
    const call = callWithQuestion([testTool("slow")], asks, { text: "Ok." });
    call.tools.script = [{ how: "answer", afterMs: 1_500, result: "late" }];
    return call.runUntil(({ toolRound }) => toolRound !== null);
  }

  test("are made once, and their results come to both", () => {
    const call = open();
    spawn(call, "a", null);
    spawn(call, "b", null, { parentThreadId: "a" });
    expect(statesOf(call)).toMatchObject({ a: { state: "CALLING_TOOL" }, b: { state: "CALLING_TOOL" } });
    call.run(4_000);
    expect(call.tools.invoked).toHaveLength(1);
    expect(call.messagesOf("tool_used")).toHaveLength(1);
    for (const id of ["a", "b"])
      expect(saidIn(call, id).slice(-2)).toEqual(["tool_result: late", "agent: Noted."]);
    expect(call.transcript.at(-1)).toBe("agent: Ok.");
  });

  test("are left out where other messages follow", () => {
    const call = open();
    spawn(call, "a", "Never mind the tool.");
    expect(call.llm.sideRequests[0]?.request.messages.map(({ role }) => role)).toEqual(["user", "user"]);
  });

  test("of a thread that ends have failed for the threads that were spawned from it", () => {
    const call = callWithThreads([testTool("slow")]);
    call.llm.sideScript = [{ text: "", calls: [{ name: "slow" }] }];
    call.tools.script = [HANG];
    spawn(call, "a", "Go").runUntil(() => call.tools.invoked.length > 0);
    spawn(call, "b", null, { parentThreadId: "a" });
    spawn(call, "a", "Something else", { ifExists: "replace" }).run(1_000);
    expect(call.effectsOf("abortTool")).toHaveLength(1);
    expect(saidIn(call, "b")).toEqual([
      "user: Go",
      "tool_call: {}",
      "tool_result: The tool failed: the thread that called it has ended",
      "agent: Noted.",
    ]);
  });
});

describe("a thread is rejected", () => {
  test.each(["UI", "_PARENT", "", "a b", "x".repeat(65), "ä", "a\u0000", "../a"])("with the id %j", (id) => {
    const call = callWithThreads();
    spawn(call, id, "Go").run(500);
    expect(call.messagesOf("thread_rejected")).toEqual([
      { type: "thread_rejected", threadId: id.slice(0, 64), reason: "invalid" },
    ]);
    expect(call.llm.sideRequests).toEqual([]);
  });

  test("with more tool calls than a generation may make", () => {
    const call = callWithThreads([testTool("lookUp")]);
    const made = { role: "MESSAGE_ROLE_TOOL_CALL", toolName: "lookUp", text: "{}" };
    const additionalMessages = Array.from({ length: 17 }, () => made);
    send(call, { type: "spawn_thread", newThreadId: "a", additionalMessages });
    expect(toldOf(call)).toEqual(["thread_rejected a invalid"]);
    expect(call.tools.invoked).toEqual([]);
  });

  test.each(["b", "_PARENT", "__proto__"])("with the parent %s, which is none", (parentThreadId) => {
    const call = callWithThreads();
    spawn(call, "a", "Go", { parentThreadId });
    expect(toldOf(call)).toEqual(["thread_rejected a unknown_parent"]);
  });

  test("while another has its id, unless it is to be replaced", () => {
    const call = callWithThreads();
    spawn(call, "a", "Go").run(1_000);
    spawn(call, "a", "Again");
    expect(toldOf(call).at(-1)).toBe("thread_rejected a exists");
    // It may be a copy of the one that it replaces.
    spawn(call, "a", "Anew", { ifExists: "replace", parentThreadId: "a" }).run(1_000);
    expect(toldOf(call).slice(2)).toEqual(["thread_terminated a replaced", "thread_spawned a"]);
    expect(saidIn(call, "a")).toEqual(["user: Go", "agent: Noted.", "user: Anew", "agent: Noted."]);
    expect(call.eventsOf("thread.canceled")).toMatchObject([
      { extras: { threadId: "a", reason: "replaced" } },
    ]);
  });

  test("beyond those that live at once", () => {
    const call = callWithThreads();
    for (let n = 0; n <= THREADS_LIVE_MAX; n += 1) spawn(call, `t${n}`, "Go");
    expect(toldOf(call).at(-1)).toBe(`thread_rejected t${THREADS_LIVE_MAX} too_many`);
    expect(Object.keys(statesOf(call))).toHaveLength(THREADS_LIVE_MAX);
    // One that takes the place of another is not one more.
    spawn(call, "t0", "Anew", { ifExists: "replace" });
    expect(toldOf(call).at(-1)).toBe("thread_spawned t0");
  });

  test("beyond those of a whole call, however often they are replaced", () => {
    const call = callWithThreads();
    for (let n = 0; n < THREADS_SPAWNED_MAX; n += 1) spawn(call, "a", null, { ifExists: "replace" });
    expect(toldOf(call).at(-1)).toBe("thread_spawned a");
    spawn(call, "a", null, { ifExists: "replace" });
    expect(toldOf(call).at(-1)).toBe("thread_rejected a too_many");
  });
});
