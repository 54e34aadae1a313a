import { describe, expect, test } from "vitest";
import type { CallEngineEventBody } from "../../call/events.ts";
import type { NewStage } from "../../plan/new-stage.ts";
import { testPlan } from "../../call/testing/plan.ts";
import { StageRuns } from "./stage-runs.ts";
import { openManualClock } from "../testing/manual-clock.ts";

function setUp() {
  const plan = testPlan();
  const posted: CallEngineEventBody[] = [];
  const faults: unknown[] = [];
  const requested: ReturnType<typeof Promise.withResolvers<NewStage>>[] = [];
  const clock = openManualClock(0);
  const runs = new StageRuns({
    plan,
    clock,
    prepareStage: () => {
      const answer = Promise.withResolvers<NewStage>();
      requested.push(answer);
      return answer.promise;
    },
    post: (event) => void posted.push(event),
    faulted: (error) => void faults.push(error),
  });
  const start = (invocationId: string) =>
    runs.start({
      type: "prepareStage",
      invocationId,
      document: "{}",
      from: plan.stage,
      onlyToolsOfCall: false,
    });
  return { plan, posted, faults, requested, clock, runs, start };
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
};

describe("StageRuns", () => {
  test("posts what was prepared, once, and no limit after it", async () => {
    const { plan, posted, requested, clock, start } = setUp();
    const ready = { stage: plan.stage, initialMessages: null, initialState: null, toolResultText: "OK" };
    start("i");
    start("i");
    expect(requested).toHaveLength(1);
    requested[0]?.resolve(ready);
    await settled();
    await clock.advance(20_000);
    expect(posted).toEqual([{ type: "stagePrepared", invocationId: "i", ...ready }]);
  });

  test("posts why it was refused", async () => {
    const { posted, requested, start } = setUp();
    start("a");
    start("b");
    requested[0]?.resolve({ error: "No." });
    requested[1]?.reject(new Error("the store is gone"));
    await settled();
    expect(posted).toEqual([
      { type: "stageRefused", invocationId: "a", error: "No." },
      { type: "stageRefused", invocationId: "b", error: "The new stage cannot begin: the store is gone" },
    ]);
  });

  test("does not wait forever, and ignores what comes later", async () => {
    const { posted, requested, clock, start } = setUp();
    start("i");
    await clock.advance(5_000);
    expect(posted).toEqual([
      {
        type: "stageRefused",
        invocationId: "i",
        error: "The new stage cannot begin: it was not ready within 5s.",
      },
    ]);
    requested[0]?.resolve({ error: "late" });
    await settled();
    expect(posted).toHaveLength(1);
  });

  test("says nothing after the end of the call", async () => {
    const { posted, faults, requested, clock, runs, start } = setUp();
    start("i");
    expect(clock.pending()).toBe(1);
    runs.close();
    expect(clock.pending()).toBe(0);
    requested[0]?.resolve({ error: "No." });
    await settled();
    await clock.advance(20_000);
    expect([posted, faults]).toEqual([[], []]);
  });
});
