import { describe, expect, test } from "vitest";
import { CARRY_ON_INSTRUCTION } from "../reply/reply.ts";
import { testTool } from "../testing/fake-tools.ts";
import { callWithThreads, saidIn, send, spawn, statesOf, threadOf, toldOf } from "../testing/thread-calls.ts";
import { TOOL_ROUNDS_MAX } from "../tools/round.ts";
import { DEPLOYMENT_LIMITS, SIDE_ATTEMPTS_MAX, SIDE_SILENCE_LIMIT_MS } from "./thread-limits.ts";

const toThread = (text: string, more: object = {}) => ({
  type: "user_text_message",
  text,
  threadId: "a",
  ...more,
});

describe("a thread generates", () => {
  test("while the conversation goes on, and an interruption of the agent leaves it alone", () => {
    const call = callWithThreads();
    call.llm.sideScript = [{ text: "A long report.", firstMs: 4_000 }];
    call.llm.script = [{ text: "It is a lovely hotel by the sea. All of its rooms have balconies." }];
    spawn(call, "a", "Write the report.");
    call
      .says("Good morning", 640)
      .runUntil(({ reply }) => reply?.begun === true)
      .run(300);
    call.says("No, wait a moment", 900).run(8_000);
    expect(call.eventsOf("turn.interrupted")).toHaveLength(1);
    expect(call.effectsOf("abortSide")).toEqual([]);
    expect(saidIn(call, "a").at(-1)).toBe("agent: A long report.");
    expect(call.transcript).not.toContain("agent: A long report.");
  });

  test("without counting as activity of user or agent", () => {
    const inactivityMessages = [
      { afterMs: 2_000, text: "Are you still there?", endBehavior: "none" },
    ] as const;
    const call = callWithThreads([], { stage: { inactivityMessages } });
    call.llm.sideScript = [{ text: "Done.", firstMs: 10_000 }];
    spawn(call, "a", "Go").run(6_000);
    expect(call.transcript).toEqual(["agent: Are you still there?"]);
    expect(call.state.shown).toBe("listening");
  });

  test("again for what it was sent meanwhile, all of it together", () => {
    const call = callWithThreads();
    spawn(call, "a", "First");
    for (const text of ["Second", "Third"]) send(call, toThread(text));
    expect(threadOf(call, "a").inbox).toHaveLength(2);
    call.run(3_000);
    expect(saidIn(call, "a")).toEqual([
      "user: First",
      "agent: Noted.",
      "user: Second",
      "user: Third",
      "agent: Noted.",
    ]);
    expect(call.llm.sideRequests).toHaveLength(2);
  });

  test.each(["immediate", "soon", "later"] as const)("at once for a text that is %s", (urgency) => {
    const call = callWithThreads();
    spawn(call, "a", null);
    send(call, toThread("Go", { urgency })).run(1_000);
    expect(call.llm.sideRequests).toHaveLength(1);
    expect(call.transcript).toEqual([]);
  });

  test("not for a text whose answer is deferred, and by empty text with an instruction", () => {
    const call = callWithThreads();
    spawn(call, "a", null);
    send(call, toThread("For later", { deferResponse: true })).run(1_000);
    expect(call.llm.sideRequests).toEqual([]);
    expect(saidIn(call, "a")).toEqual(["user: For later"]);
    send(call, toThread("")).run(1_000);
    expect(saidIn(call, "a")).toEqual(["user: For later", "agent: Noted."]);
    send(call, toThread("")).run(1_000);
    expect(call.llm.sideRequests[1]?.request.instruction).toBe(CARRY_ON_INSTRUCTION);
  });
});

describe("tools of a thread", () => {
  const lookUp = { text: "I look.", calls: [{ name: "lookUp", arguments: { what: "rooms" } }] };

  test("run beside those of the conversation, and their results are answered in the thread", () => {
    const call = callWithThreads([testTool("lookUp")]);
    call.llm.sideScript = [lookUp, { text: "Three rooms." }];
    call.tools.script = [{ how: "answer", result: "3", updateCallState: { rooms: 3 } }];
    spawn(call, "a", "Look").run(300);
    expect(statesOf(call)).toEqual({ a: { state: "CALLING_TOOL" } });
    call.run(3_000);
    const [requested] = call.tools.requests;
    const id = requested?.invocationId;
    expect(call.messagesOf("side_generation_completed")[0]).toEqual({
      type: "side_generation_completed",
      threadId: "a",
      text: "I look.",
      toolCalls: [{ id, name: "lookUp", arguments: { what: "rooms" } }],
    });
    expect(call.llm.sideRequests[1]?.request.messages.slice(-2)).toEqual([
      { role: "agent", text: "", toolCalls: [{ id, name: "lookUp", arguments: { what: "rooms" } }] },
      { role: "tool", invocationId: id, toolName: "lookUp", text: "3" },
    ]);
    expect(call.messagesOf("tool_used")).toMatchObject([{ invocationId: id, result: "3" }]);
    expect(call.messages).toEqual([]);
    expect(call.llm.requests).toEqual([]);
    expect(threadOf(call, "a").callState).toEqual({ rooms: 3 });
    expect(call.state.callState).toEqual({});
  });

  test.each([
    ["speaks", 2],
    ["listens", 1],
    ["speaks-once", 1],
  ] as const)("that answer with %s lead to %s generations", (reaction, generations) => {
    const call = callWithThreads([testTool("lookUp")]);
    call.llm.sideScript = [lookUp];
    call.tools.script = [{ how: "answer", reaction }];
    spawn(call, "a", "Look").run(3_000);
    expect(call.llm.sideRequests).toHaveLength(generations);
    expect(statesOf(call)).toMatchObject({ a: { state: "IDLE" } });
  });

  test.each<[string, object]>([
    ["not among those allowed", { allowedTools: ["other"] }],
    ["among those refused", { disallowedTools: ["lookUp"] }],
    ["in both lists", { allowedTools: ["lookUp"], disallowedTools: ["lookUp"] }],
  ])("that are %s are offered, and answer at once as unavailable", (_what, toolFilter) => {
    const call = callWithThreads([testTool("lookUp"), testTool("other")]);
    call.llm.sideScript = [lookUp];
    spawn(call, "a", "Look", { toolFilter }).run(2_000);
    expect(call.llm.sideRequests[0]?.request.tools.map(({ name }) => name)).toEqual(["lookUp", "other"]);
    expect(call.tools.invoked).toEqual([]);
    expect(saidIn(call, "a").slice(-2)).toEqual([
      "tool_result: The tool lookUp is not available in this thread.",
      "agent: Noted.",
    ]);
    expect(call.eventsOf("tool.failed")).toEqual([]);
  });

  test("are no longer offered after many rounds, until the thread is sent a message", () => {
    const call = callWithThreads([testTool("lookUp")]);
    call.llm.usualSide = ({ tools }) => (tools.length === 0 ? { text: "Enough." } : lookUp);
    spawn(call, "a", "Look").run(60_000);
    expect(call.tools.invoked).toHaveLength(TOOL_ROUNDS_MAX);
    expect(saidIn(call, "a").at(-1)).toBe("agent: Enough.");
    send(call, toThread("Once more")).run(1_000);
    expect(call.llm.sideRequests.at(-1)?.request.tools).toHaveLength(1);
  });

  test("that never answer have failed after their time, and the conversation does not wait", () => {
    const call = callWithThreads([testTool("lookUp")]);
    call.llm.sideScript = [lookUp];
    call.tools.script = [{ how: "hang" }];
    spawn(call, "a", "Look").run(500);
    call.says("Good morning", 640).run(1_200);
    expect(call.state.reply?.begun).toBe(true);
    call.run(5_000);
    expect(saidIn(call, "a")).toContain("tool_result: The tool failed: timeout after 2.5s");
    expect(call.eventsOf("tool.timeout")).toHaveLength(1);
    expect(call.effectsOf("recordToolError")).toHaveLength(1);
  });

  test("run no more than their share at once, and the conversation's own find room", () => {
    const call = callWithThreads([testTool("lookUp")]);
    const calls = Array.from({ length: 9 }, () => ({ name: "lookUp" }));
    call.llm.sideScript = [
      { text: "", calls },
      { text: "", calls },
    ];
    call.tools.usual = { how: "answer", afterMs: 1_000 };
    for (const id of ["a", "b"]) spawn(call, id, "Look");
    call.run(600);
    expect(call.tools.invoked).toHaveLength(16);
    call.llm.script = [{ text: "", calls: [{ name: "lookUp" }] }];
    send(call, { type: "user_text_message", text: "Me too" }).run(300);
    expect(call.tools.invoked).toHaveLength(17);
    call.run(5_000);
    expect(call.tools.invoked).toHaveLength(19);
    expect(statesOf(call)).toMatchObject({ a: { state: "IDLE" }, b: { state: "IDLE" } });
  });
});

describe("a limit", () => {
  test.each([
    ["generationLimit", 2, { text: "One." }],
    ["threadOutputTokenLimit", 20, { text: "One." }],
    ["threadFuzzyInputTokenLimit", 110, { text: "One." }],
    ["generationFuzzyInputTokenLimit", 3, { text: "One." }],
    ["generationOutputTokenLimit", 10, { text: "x".repeat(400) }],
  ] as const)("%s ends the thread, which stays known by its id", (limit, value, generation) => {
    const call = callWithThreads();
    call.llm.usualSide = () => generation;
    spawn(call, "a", "Go", { limits: { [limit]: value } }).run(1_000);
    for (const text of ["More", "And more", "And so on"]) send(call, toThread(text)).run(1_000);
    expect(toldOf(call)).toEqual(["thread_spawned a", "thread_terminated a limit_reached"]);
    expect(call.eventsOf("thread.limit_reached")).toMatchObject([
      { severity: "warning", extras: { threadId: "a", limit, value } },
    ]);
    expect(statesOf(call)).toEqual({ a: { state: "FAILED" } });
    expect(call.eventsOf("thread_comms.failed_thread").length).toBeGreaterThan(0);
    expect(threadOf(call, "a").history.entries).toEqual([]);
  });

  test("cuts a text that is too long while it comes", () => {
    const call = callWithThreads();
    call.llm.sideScript = [{ text: "word ".repeat(200), pieceMs: 20 }];
    spawn(call, "a", "Go", { limits: { generationOutputTokenLimit: 50 } }).run(10_000);
    expect(call.effectsOf("abortSide")).toHaveLength(1);
    expect(call.eventsOf("side_generation.canceled")).toHaveLength(1);
    const shown = call.messagesOf("side_generation_delta").map(({ delta }) => delta);
    expect(shown.join("").length).toBeLessThanOrEqual(200);
  });

  test("of 0, or above the deployment's, is the deployment's", () => {
    const call = callWithThreads();
    spawn(call, "a", null, { limits: { generationLimit: 1_000_000, threadOutputTokenLimit: 7 } });
    expect(threadOf(call, "a").limits).toEqual({ ...DEPLOYMENT_LIMITS, threadOutputTokenLimit: 7 });
  });
});

describe("a generation that fails", () => {
  test("is tried again before anything of it was seen", () => {
    const call = callWithThreads();
    call.llm.sideScript = [{ text: "", end: "fail" }, { text: "", end: "fail" }, { text: "At last." }];
    spawn(call, "a", "Go").run(400);
    expect(statesOf(call)).toEqual({ a: { state: "GENERATING" } });
    call.run(5_000);
    expect(saidIn(call, "a")).toEqual(["user: Go", "agent: At last."]);
    expect(call.eventsOf("side_generation.failed")).toHaveLength(2);
    expect(call.eventsOf("llm.failed")).toEqual([]);
    expect(call.state.engines.llm.failures).toBe(0);
  });

  test.each([
    ["always", Array.from({ length: SIDE_ATTEMPTS_MAX }, () => ({ text: "", end: "fail" as const }))],
    ["for good", [{ text: "", end: "refuse" as const }]],
    ["after words that clients have seen", [{ text: "Let me", end: "fail" as const }]],
  ])("%s ends its thread, and the conversation goes on", (_what, generations) => {
    const call = callWithThreads();
    call.llm.sideScript = [...generations];
    spawn(call, "a", "Go").run(8_000);
    expect(toldOf(call).at(-1)).toBe("thread_terminated a failed");
    expect(call.eventsOf("thread.failed")).toMatchObject([{ severity: "warning" }]);
    expect(call.eventsOf("side_generation.failed")).toHaveLength(generations.length);
    expect(statesOf(call)).toEqual({ a: { state: "FAILED" } });
    spawn(call, "a", "Anew");
    expect(toldOf(call).at(-1)).toBe("thread_rejected a exists");
    spawn(call, "a", "Anew", { ifExists: "replace" }).run(1_000);
    expect(toldOf(call).slice(-1)).toEqual(["thread_spawned a"]);
    expect(statesOf(call)).toMatchObject({ a: { state: "IDLE" } });
    call.says("Good morning", 640).run(5_000);
    expect(call.transcript.at(-1)).toMatch(/^agent: You said/);
  });

  test("has failed when the model is silent for too long, but not while it writes slowly", () => {
    const call = callWithThreads();
    const slow = { text: "a b c d ", firstMs: 20_000, pieceMs: 20_000 };
    call.llm.sideScript = [slow, { text: "One ", end: "hang" }];
    spawn(call, "a", "Go");
    spawn(call, "b", "Go").run(SIDE_SILENCE_LIMIT_MS + 200);
    expect(statesOf(call)).toMatchObject({ a: { state: "GENERATING" }, b: { state: "FAILED" } });
    expect(call.effectsOf("abortSide")).toHaveLength(1);
    call.run(40_000);
    expect(statesOf(call)).toMatchObject({ a: { state: "IDLE", lastResponse: "a b c d" } });
  });
});

describe("tokens", () => {
  test("of all threads are counted together, never those of the conversation", () => {
    const call = callWithThreads();
    for (const id of ["a", "b"]) spawn(call, id, "Go").run(1_000);
    call.says("Good morning", 640).run(5_000);
    expect(call.effectsOf("recordSideTokens").map((counted) => ({ ...counted, type: undefined }))).toEqual([
      { inputTokens: 100, outputTokens: 20 },
      { inputTokens: 200, outputTokens: 40 },
    ]);
    expect(call.effectsOf("recordTokenCount")).toHaveLength(1);
  });

  test("that the model does not report, and those of an aborted generation, are estimated", () => {
    const call = callWithThreads();
    call.llm.sideScript = [{ text: "", end: "hang" }];
    spawn(call, "a", "x".repeat(380)).run(200);
    call.post({ type: "sideTextReceived", generationId: 1, text: "y".repeat(40) });
    call.post({ type: "sideTextFinished", generationId: 1, inputTokens: null, outputTokens: null });
    const [counted] = call.effectsOf("recordSideTokens");
    expect(counted?.outputTokens).toBe(10);
    expect(counted?.inputTokens).toBeGreaterThan(95);
    call.llm.sideScript = [{ text: "", end: "hang" }];
    send(call, toThread("More")).run(200);
    call.post({ type: "transportHungUp" });
    expect(call.effectsOf("recordSideTokens").at(-1)?.inputTokens).toBeGreaterThan(190);
  });
});

test("messages that know nothing of a generation are harmless", () => {
  const call = callWithThreads();
  spawn(call, "a", "Go").run(1_000);
  const before = call.state.sideThreads;
  call.post({ type: "sideTextReceived", generationId: 1, text: "late" });
  call.post({ type: "sideTextFinished", generationId: 9, inputTokens: 5, outputTokens: 5 });
  call.post({ type: "sideGenerationFailed", generationId: 9, error: "late" });
  expect(call.state.sideThreads).toEqual(before);
});
