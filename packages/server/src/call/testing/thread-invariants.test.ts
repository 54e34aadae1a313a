import { describe, expect, test } from "vitest";
import type { CallState } from "../call.ts";
import type { CallEffect } from "../effects.ts";
import type { SideThread } from "../threads/thread-state.ts";
import { testTool } from "./fake-tools.ts";
import { callWithThreads, spawn, threadOf } from "./thread-calls.ts";
import { ThreadChecker } from "./thread-invariants.ts";

/** One thread generates; another waits for a tool. */
function busy() {
  const call = callWithThreads([testTool("slow")]);
  call.llm.sideScript = [
    { text: "", end: "hang" },
    { text: "", calls: [{ name: "slow" }] },
  ];
  call.tools.script = [{ how: "hang" }];
  spawn(call, "a", "Go");
  spawn(call, "b", "Go");
  call.runUntil(() => call.tools.invoked.length > 0);
  const checker = new ThreadChecker();
  for (const { value } of call.effects) expect(checker.observe(value)).toEqual([]);
  expect(checker.broken(call.state)).toEqual([]);
  return { call, checker };
}

function withThreads(state: CallState, ...list: readonly SideThread[]): CallState {
  return { ...state, sideThreads: { ...state.sideThreads, list } };
}

describe("the checker notices, of side threads,", () => {
  test.each<[string, string, (thread: SideThread, state: CallState) => CallState]>([
    ["two of one id", "I21", (a, state) => withThreads(state, a, a)],
    [
      "more than may live",
      "I21",
      (a, state) => {
        const nine = Array.from({ length: 9 }, (_, n) => ({ ...a, threadId: `t${n}` }));
        return withThreads(state, ...nine);
      },
    ],
    ["one that no client knows of", "I21", (a, state) => withThreads(state, a)],
    [
      "characters that are not counted",
      "I21",
      (a, state) => withThreads(state, { ...a, history: { ...a.history, chars: 0 } }),
    ],
    ["a generation without a limit", "I22", (a, state) => ({ ...withThreads(state, a), timers: {} })],
    [
      "a generation that is forgotten",
      "I22",
      (a, state) => withThreads(state, { ...a, generation: null, due: true }),
    ],
    [
      "a message that is forgotten",
      "I22",
      (a, state) =>
        withThreads(state, { ...a, generation: null, inbox: [{ kind: "text", text: "Hi", asks: true }] }),
    ],
    [
      "results that are forgotten",
      "I22",
      (a, state) =>
        withThreads(state, { ...a, generation: null, round: { calls: [], spoke: false, borrowed: false } }),
    ],
    [
      "one that outlives the call",
      "I23",
      (a, state) => ({ ...withThreads(state, a), phase: { kind: "ended", reason: "hangup" } }),
    ],
  ])("%s", (_what, invariant, forged) => {
    const { call, checker } = busy();
    const broken = checker.broken(forged(threadOf(call, "a"), call.state));
    expect(broken.some((text) => text.startsWith(`${invariant} `))).toBe(true);
  });

  test.each<[string, string, CallEffect]>([
    [
      "an id used twice",
      "I5",
      {
        type: "generateSide",
        generationId: 1,
        threadId: "a",
        request: {
          model: "default",
          temperature: 0,
          systemPrompt: "",
          messages: [],
          instruction: null,
          languageHint: null,
          tools: [],
        },
      },
    ],
    ["an abort of what never began", "I23", { type: "abortSide", generationId: 7 }],
    ["tokens that are taken back", "I23", { type: "recordSideTokens", inputTokens: 0, outputTokens: 0 }],
    [
      "text of a thread that is not live",
      "I21",
      {
        type: "sendDataMessage",
        message: { type: "side_generation_delta", threadId: "z", delta: "x" },
      },
    ],
    [
      "a thread spawned twice",
      "I21",
      { type: "sendDataMessage", message: { type: "thread_spawned", threadId: "a" } },
    ],
  ])("%s", (_what, invariant, effect) => {
    const { checker } = busy();
    expect(checker.observe(effect).some((text) => text.startsWith(`${invariant} `))).toBe(true);
  });
});
