import { expect, test } from "vitest";
import type { CallEngineEvent } from "../../call/events.ts";
import { testPlan } from "../../call/testing/plan.ts";
import { EventLogger, eventTextLength } from "./event-log.ts";

const event = (atMs: number): CallEngineEvent => ({ type: "timerFired", timerId: atMs, atMs });

test("a short call is kept whole, from its first state", () => {
  const log = new EventLogger<number>(0);
  for (let i = 0; i < 100; i += 1) log.add(i, event(i));
  expect(log.read().state).toBe(0);
  expect(log.read().events.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 100 }, (_, i) => i));
});

test("of a long one the last events are kept, with the state before them", () => {
  const log = new EventLogger<number>(0);
  // The state is the number of events applied.
  for (let i = 0; i < 50_000; i += 1) log.add(i, event(i));
  const { state, events } = log.read();
  expect(events.length).toBeGreaterThan(2_048);
  expect(events.length).toBeLessThanOrEqual(4_096);
  expect(events[0]?.atMs).toBe(state);
  expect(events.at(-1)?.atMs).toBe(49_999);
});

const LONG = "x".repeat(300_000);
const completed = { kind: "completed", responseType: "tool-response", reaction: null } as const;
const tool = { type: "toolFinished", invocationId: "i", atMs: 1 } as const;
const longEvents: readonly CallEngineEvent[] = [
  { ...tool, outcome: { ...completed, result: LONG, updateCallState: null } },
  { ...tool, outcome: { ...completed, result: "", updateCallState: { a: LONG } } },
  { ...tool, outcome: { kind: "failed", cause: "error", text: "", errorDetails: LONG } },
  {
    type: "stagePrepared",
    invocationId: "i",
    stage: { ...testPlan().stage, systemPrompt: LONG },
    initialMessages: null,
    initialState: null,
    toolResultText: "",
    atMs: 1,
  },
  {
    type: "replyToolCalled",
    replyId: 1,
    call: { id: "c", name: "n", arguments: { a: LONG } },
    problem: null,
    atMs: 1,
  },
  {
    type: "replyToolCalled",
    replyId: 1,
    call: { id: "c", name: "n", arguments: {} },
    problem: LONG,
    atMs: 1,
  },
  { type: "replyFailed", replyId: 1, error: LONG, atMs: 1 },
  { type: "faulted", error: LONG, atMs: 1 },
  { type: "stageRefused", invocationId: "i", error: LONG, atMs: 1 },
  { type: "dataMessageRejected", cause: "invalid", detail: LONG, atMs: 1 },
  { type: "dataConnectionFailed", detail: LONG, atMs: 1 },
  { type: "engineWarned", engine: "stt", detail: LONG, atMs: 1 },
  { type: "transportProblemNoticed", problem: LONG, atMs: 1 },
  { type: "transcriptUpdated", utteranceId: 1, text: LONG, atMs: 1 },
];

test.each(longEvents)("a long $type counts as long, and the log stays bounded", (long) => {
  expect(eventTextLength(long)).toBeGreaterThanOrEqual(LONG.length);
  const log = new EventLogger<number>(0);
  for (let i = 0; i < 100; i += 1) log.add(i, long);
  const { state, events } = log.read();
  expect(events.length).toBeLessThanOrEqual(6);
  expect(state).toBe(100 - events.length);
});

test("a short one counts nothing", () => {
  expect(eventTextLength(event(1))).toBe(0);
});
