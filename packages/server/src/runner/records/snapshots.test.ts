import { expect, test } from "vitest";
import { joinedCall } from "../../call/testing/scenario.ts";
import { testTool } from "../../call/testing/fake-tools.ts";
import type { CallState } from "../../call/call.ts";
import type { CallEffect } from "../../call/effects.ts";
import type { CallLease } from "../call-deps.ts";
import { openManualClock } from "../testing/manual-clock.ts";
import { Snapshots, STORE_LIMIT_MS } from "./snapshots.ts";

interface StepOfCall {
  readonly before: CallState;
  readonly after: CallState;
  readonly effects: readonly CallEffect[];
}

/** The step that sends a tool. */
function sendingStep(): StepOfCall {
  const call = joinedCall({ stage: { tools: [testTool("book")] } });
  call.llm.script = [{ text: "", calls: [{ name: "book" }] }];
  call.tools.script = [{ how: "hang" }];
  const before = call.run(320).says("Book it", 640).state;
  call.runUntil(({ toolRound }) => toolRound !== null);
  const effects = call.effects.slice(-8).map(({ value }) => value);
  return { before, after: call.state, effects };
}

function world(isOn = true, lease?: CallLease) {
  const clock = openManualClock(0);
  const started: string[] = [];
  const stored = Promise.withResolvers<void>();
  let taken = 0;
  const snapshots = new Snapshots(isOn, {
    records: {
      snapshot: () => {
        taken += 1;
        return stored.promise;
      },
    },
    use: { soFar: () => [] },
    clock,
    lease,
    start: (effect) => void started.push(effect.type),
  });
  const settle = async (): Promise<void> => {
    stored.resolve();
    await stored.promise;
    await Promise.resolve();
  };
  return { clock, started, snapshots, settle, taken: () => taken };
}

test("a tool is sent when the snapshot that knows of it is stored, and all else at once", async () => {
  const { before, after, effects } = sendingStep();
  const { started, snapshots, settle, taken } = world();
  snapshots.run(before, after, effects);
  expect(taken()).toBe(1);
  expect(started).not.toContain("invokeTool");
  expect(started).toContain("recordMessage");
  await settle();
  expect(started.filter((type) => type === "invokeTool")).toHaveLength(1);
});

test("a database that does not answer delays a tool by a second", async () => {
  const { before, after, effects } = sendingStep();
  const { clock, started, snapshots, settle } = world();
  snapshots.run(before, after, effects);
  await clock.advance(STORE_LIMIT_MS - 20);
  expect(started).not.toContain("invokeTool");
  await clock.advance(20);
  expect(started).toContain("invokeTool");
  await settle();
  expect(started.filter((type) => type === "invokeTool")).toHaveLength(1);
});

/** The lease of a process that was stopped for a while. */
function lapsedLease() {
  const renewed = Promise.withResolvers<void>();
  let isHeld = false;
  const renew = async (): Promise<void> => {
    isHeld = true;
    renewed.resolve();
    await renewed.promise;
    await Promise.resolve();
  };
  return { isHeld: () => isHeld, whenHeld: () => renewed.promise, renew };
}

test("a process whose lease has lapsed sends a tool once it has the lease again", async () => {
  const { before, after, effects } = sendingStep();
  const lease = lapsedLease();
  const { clock, started, snapshots, settle } = world(true, lease);
  snapshots.run(before, after, effects);
  await settle();
  await clock.advance(60_000);
  expect(started).not.toContain("invokeTool");
  await lease.renew();
  expect(started.filter((type) => type === "invokeTool")).toHaveLength(1);
});

test("a tool whose time is over before the process has the lease again is never sent", async () => {
  const { before, after, effects } = sendingStep();
  const lease = lapsedLease();
  const { started, snapshots, settle } = world(true, lease);
  snapshots.run(before, after, effects);
  await settle();
  const sent = effects.find(({ type }) => type === "invokeTool");
  const invocationId = sent?.type === "invokeTool" ? sent.invocation.invocationId : "";
  snapshots.run(after, after, [{ type: "abortTool", invocationId }]);
  await lease.renew();
  expect(started).not.toContain("invokeTool");
});

test("a tool that is aborted before it was sent is never sent", async () => {
  const { before, after, effects } = sendingStep();
  const { started, snapshots, settle } = world();
  snapshots.run(before, after, effects);
  const sent = effects.find(({ type }) => type === "invokeTool");
  const invocationId = sent?.type === "invokeTool" ? sent.invocation.invocationId : "";
  snapshots.run(after, after, [{ type: "abortTool", invocationId }]);
  await settle();
  expect(started).not.toContain("invokeTool");
  expect(started).not.toContain("abortTool");
});

test("without snapshots nothing is stored, and nothing waits", () => {
  const { before, after, effects } = sendingStep();
  const { started, snapshots, taken } = world(false);
  snapshots.run(before, after, effects);
  expect(taken()).toBe(0);
  expect(started).toEqual(effects.map(({ type }) => type));
});
