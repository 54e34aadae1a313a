import { describe, expect, test } from "vitest";
import type { CallEngineEventBody } from "../events.ts";
import { testTool, type ToolRun } from "../testing/fake-tools.ts";
import type { Scenario } from "../testing/scenario.ts";
import { callWithThreads, saidIn, send, spawn, statesOf, toldOf } from "../testing/thread-calls.ts";
import { THREADS_FAILED_KEPT } from "./thread-limits.ts";

const HANG: ToolRun = { how: "hang" };

/** One thread generates, one calls a tool, one is idle. */
function busy(call: Scenario): Scenario {
  call.llm.sideScript = [
    { text: "Half", end: "hang" },
    { text: "", calls: [{ name: "slow" }] },
  ];
  call.tools.script = [HANG];
  spawn(call, "writes", "Go");
  spawn(call, "calls", "Go");
  spawn(call, "idle", null);
  call.runUntil(() => call.tools.invoked.length > 0).run(200);
  expect(statesOf(call)).toEqual({
    writes: { state: "GENERATING" },
    calls: { state: "CALLING_TOOL" },
    idle: { state: "IDLE" },
  });
  return call;
}

describe("all threads end with the call", () => {
  test.each<CallEngineEventBody>([
    { type: "transportHungUp" },
    { type: "mediaIdled" },
    { type: "faulted", error: "boom" },
    { type: "endRequested", cause: "shutdown" },
  ])("%j", (end) => {
    const call = busy(callWithThreads([testTool("slow")]));
    call.post(end);
    expect(toldOf(call).slice(3)).toEqual([
      "thread_terminated writes call_ended",
      "thread_terminated calls call_ended",
      "thread_terminated idle call_ended",
    ]);
    expect(call.effectsOf("abortSide")).toHaveLength(1);
    expect(call.effectsOf("abortTool")).toHaveLength(1);
    expect(call.eventsOf("thread.canceled")).toHaveLength(3);
    expect(call.eventsOf("side_generation.canceled")).toHaveLength(1);
    expect(call.state.sideThreads.list).toEqual([]);
    expect(call.effects.at(-1)?.value.type).toBe("endCall");
  });

  test("after last words, during which they begin nothing new", () => {
    const call = callWithThreads();
    spawn(call, "a", "Go");
    send(call, { type: "user_text_message", text: "More", threadId: "a" });
    send(call, { type: "hang_up", message: "It was a pleasure to talk to you." }).run(600);
    expect(saidIn(call, "a")).toEqual(["user: Go", "agent: Noted."]);
    expect(call.llm.sideRequests).toHaveLength(1);
    call.run(5_000);
    expect(call.hasEnded).toBe(true);
    expect(toldOf(call).at(-1)).toBe("thread_terminated a call_ended");
  });
});

test("all threads end with the stage", () => {
  const call = busy(callWithThreads([testTool("next"), testTool("slow")]));
  call.llm.script = [{ text: "", calls: [{ name: "next" }] }];
  call.tools.script = [{ how: "answer", responseType: "new-stage", result: "{}" }];
  call.tools.stages = [{ stage: { stageId: "second" } }];
  call.says("Go on please", 900).run(6_000);
  expect(call.state.stage.stageId).toBe("second");
  expect(toldOf(call).slice(3)).toEqual([
    "thread_terminated writes stage_changed",
    "thread_terminated calls stage_changed",
    "thread_terminated idle stage_changed",
  ]);
  expect(call.eventsOf("thread.canceled").every(({ stageId }) => stageId !== "second")).toBe(true);
  // Their ids are free again, and late results of their tools are no faults.
  const id = call.tools.requests[0]?.invocationId ?? "";
  const completed = { kind: "completed", responseType: "tool-response", reaction: null } as const;
  const outcome = { ...completed, result: "late", updateCallState: null };
  call.post({ type: "toolFinished", invocationId: id, outcome });
  expect(call.eventsOf("tool.failed")).toEqual([]);
  spawn(call, "writes", "Anew").run(500);
  expect(toldOf(call).at(-1)).toBe("thread_spawned writes");
});

test("one that is replaced stops what it was doing", () => {
  const call = busy(callWithThreads([testTool("slow")]));
  for (const id of ["writes", "calls"]) spawn(call, id, "Anew", { ifExists: "replace" });
  expect(call.effectsOf("abortSide")).toHaveLength(1);
  expect(call.effectsOf("abortTool")).toHaveLength(1);
  call.run(1_000);
  expect(saidIn(call, "writes")).toEqual(["user: Anew", "agent: Noted."]);
});

test("of those that have failed the oldest are forgotten", () => {
  const call = callWithThreads();
  call.llm.usualSide = () => ({ text: "", end: "refuse" });
  for (let n = 0; n < THREADS_FAILED_KEPT + 3; n += 1) spawn(call, `t${n}`, "Go").run(300);
  expect(Object.keys(statesOf(call))).toHaveLength(THREADS_FAILED_KEPT);
  send(call, { type: "user_text_message", text: "Hi", threadId: "t0" });
  expect(call.eventsOf("thread_comms.non_existent_thread")).toHaveLength(1);
  send(call, { type: "user_text_message", text: "Hi", threadId: "t10" });
  expect(call.eventsOf("thread_comms.failed_thread")).toHaveLength(1);
});
