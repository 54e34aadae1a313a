import { expect, it } from "vitest";
import type { ToolOutcome } from "@parley/schema";
import type { ToolInvocationRequest } from "../../call/effects.ts";
import type { CallEngineEventBody } from "../../call/events.ts";
import type { ToolInvoker } from "../../ports/tool-invoker.ts";
import { completedAnswer, openFakeToolInvoker } from "../../ports/testing/fake-tool-invoker.ts";
import { openManualClock } from "../testing/manual-clock.ts";
import { ToolRuns } from "./tool-runs.ts";

function request(invocationId: string, timeoutMs = 2_500): ToolInvocationRequest {
  return {
    invocationId,
    toolName: "lookUp",
    implementation: { kind: "builtIn", builtIn: "queryCorpus" },
    values: [],
    timeoutMs,
  };
}

function setUp(invoker: ToolInvoker = openFakeToolInvoker()) {
  const posted: Extract<CallEngineEventBody, { type: "toolFinished" }>[] = [];
  const faults: unknown[] = [];
  const clock = openManualClock(0);
  const runs = new ToolRuns({
    callId: "c",
    accountId: "a",
    invoker,
    clock,
    post: (event) => {
      if (event.type === "toolFinished") posted.push(event);
    },
    faulted: (error) => faults.push(error),
  });
  return { runs, posted, faults, clock };
}

/** An invoker whose answers the test sets, and that ignores aborts. */
function openStubbornInvoker() {
  const waiting = new Map<string, { answer: (answer: ToolOutcome) => void; fail: (error: Error) => void }>();
  const signals = new Map<string, AbortSignal>();
  const invoker: ToolInvoker = {
    invoke: ({ invocationId }, signal) => {
      signals.set(invocationId, signal);
      return new Promise((answer, fail) => waiting.set(invocationId, { answer, fail }));
    },
    close: () => Promise.resolve(),
  };
  return { invoker, waiting, signals };
}

it("posts what the invoker answers, with the ids of the call", async () => {
  const invoker = openFakeToolInvoker({ answer: ({ toolName }) => `done ${toolName}` });
  const { runs, posted, clock } = setUp(invoker);
  runs.start(request("i1"));
  await clock.advance(1);
  expect(posted).toEqual([
    { type: "toolFinished", invocationId: "i1", outcome: completedAnswer("done lookUp") },
  ]);
  expect(invoker.calls[0]).toMatchObject({ callId: "c", accountId: "a", invocationId: "i1" });
  expect(clock.pending()).toBe(0);
});

it("never sends an invocation twice", async () => {
  const invoker = openFakeToolInvoker();
  const { runs, posted, clock } = setUp(invoker);
  runs.start(request("i1"));
  runs.start(request("i1"));
  await clock.advance(1);
  runs.start(request("i1"));
  await clock.advance(1);
  expect([invoker.calls.length, posted.length]).toEqual([1, 1]);
});

it("runs several at once and posts each in its own time", async () => {
  const { invoker, waiting } = openStubbornInvoker();
  const { runs, posted, clock } = setUp(invoker);
  runs.start(request("i1"));
  runs.start(request("i2"));
  waiting.get("i2")?.answer(completedAnswer("second"));
  await clock.advance(1);
  waiting.get("i1")?.answer(completedAnswer("first"));
  await clock.advance(1);
  expect(posted.map(({ invocationId }) => invocationId)).toEqual(["i2", "i1"]);
});

it.each(["abort", "close"] as const)("posts nothing after %s, whatever the invoker does", async (how) => {
  const { invoker, waiting, signals } = openStubbornInvoker();
  const { runs, posted, faults, clock } = setUp(invoker);
  runs.start(request("i1"));
  runs.start(request("i2"));
  if (how === "close") runs.close();
  else for (const id of ["i1", "i2", "i2", "unknown"]) runs.abort(id);
  expect([signals.get("i1")?.aborted, signals.get("i2")?.aborted]).toEqual([true, true]);
  waiting.get("i1")?.answer(completedAnswer("late"));
  waiting.get("i2")?.fail(new Error("late"));
  await clock.advance(10_000);
  expect([posted, faults]).toEqual([[], []]);
  expect(clock.pending()).toBe(0);
});

it("answers for an invoker that throws", async () => {
  const { invoker, waiting } = openStubbornInvoker();
  const { runs, posted, faults, clock } = setUp(invoker);
  runs.start(request("i1"));
  waiting.get("i1")?.fail(new Error("secret place unreachable"));
  await clock.advance(1);
  const details = "secret place unreachable";
  const outcome = { kind: "failed", cause: "error", text: "The tool failed: it could not be called" };
  expect(posted).toMatchObject([{ invocationId: "i1", outcome: { ...outcome, errorDetails: details } }]);
  expect(faults).toEqual([]);
});

it("answers for an invoker that does not answer, and takes no later answer", async () => {
  const { invoker, waiting, signals } = openStubbornInvoker();
  const { runs, posted, clock } = setUp(invoker);
  runs.start(request("i1", 2_500));
  await clock.advance(3_400);
  expect(posted).toEqual([]);
  await clock.advance(200);
  const outcome = { kind: "failed", cause: "timeout", text: "The tool failed: timeout after 2.5s" };
  expect(posted).toMatchObject([{ invocationId: "i1", outcome }]);
  expect(signals.get("i1")?.aborted).toBe(true);
  waiting.get("i1")?.answer(completedAnswer("late"));
  await clock.advance(1);
  expect(posted).toHaveLength(1);
});

it("refuses what is too much, with a result", () => {
  const { invoker } = openStubbornInvoker();
  const { runs, posted } = setUp(invoker);
  for (let i = 0; i < 49; i += 1) runs.start(request(`i${i}`));
  const outcome = { kind: "failed", text: "The tool failed: too many tools are running" };
  expect(posted).toMatchObject([{ invocationId: "i48", outcome }]);
});
