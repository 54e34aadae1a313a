import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initResampler } from "../../media/resample.ts";
import { openFakeToolInvoker } from "../../ports/testing/fake-tool-invoker.ts";
import { openFakeTraces } from "../../ports/testing/fake-traces.ts";
import type { Traces } from "../../ports/traces.ts";
import { openCallWorld, WORLD_CREATED_MS } from "../testing/call-world.ts";
import { openBrokenTts, openFakeEngines } from "../testing/fakes.ts";
import { openMemoryRecordings } from "../testing/memory-recordings.ts";
import { noStages } from "../testing/no-stages.ts";
import type { PlanChanges } from "../testing/plan.ts";

const PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

function openWorld(traces: Traces | null, engines = openFakeEngines()) {
  return openCallWorld(engines, openMemoryRecordings(), openFakeToolInvoker(), noStages, traces);
}

/** The opening, one turn with its answer, and a hang-up. */
async function converse({ clock, joined }: ReturnType<typeof openWorld>, changes: PlanChanges = {}) {
  const { plan, transport, hear } = await joined(changes);
  await hear(4_000, false);
  await hear(1_000, true);
  await hear(6_000, false);
  transport.lose(true, 1000);
  await clock.advance(1_000);
  return plan;
}

test("the end of a call is one line of the log, with figures and without words", async () => {
  const world = openWorld(null);
  const { callId, accountId } = await converse(world, { agentId: "agent-1" });
  expect(world.ends).toEqual([
    {
      callId,
      accountId,
      agentId: "agent-1",
      medium: "serverWebSocket",
      durationMs: 11_000,
      reason: "hangup",
      turns: 1,
      medianWaitMs: world.records.latencies[0]?.firstPlayedMs,
      errors: 0,
    },
  ]);
  expect(world.ends[0]?.["medianWaitMs"]).toBeGreaterThan(0);
});

test("the line counts failures of engines, and has no duration where nobody joined", async () => {
  const world = openWorld(null, { ...openFakeEngines(), tts: openBrokenTts() });
  await converse(world);
  expect(world.ends[0]?.["errors"]).toBe(
    world.records.events.filter(({ event }) => event.severity === "error").length,
  );
  expect(world.ends[0]?.["errors"]).toBeGreaterThan(0);
  world.create({ joinTimeoutMs: 1_000 });
  await world.clock.advance(2_000);
  const nothing = { reason: "unjoined", durationMs: null, turns: 0, medianWaitMs: null, errors: 0 };
  expect(world.ends[1]).toMatchObject(nothing);
});

test("a call that a shutdown lets go of has neither a line nor a span: it has not ended", async () => {
  const traces = openFakeTraces();
  const world = openWorld(traces);
  world.create();
  await world.calls.drain(1_000);
  expect([world.ends, traces.ended]).toEqual([[], []]);
});

test("a live call is traced, as a part of the trace of the request that created it", async () => {
  const traces = openFakeTraces();
  const world = openWorld(traces);
  await converse(world, { traceParent: PARENT });
  expect(traces.open()).toBe(0);
  const call = traces.ended.at(-1);
  expect(call).toMatchObject({
    name: "call",
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    parentId: "00f067aa0ba902b7",
    startMs: WORLD_CREATED_MS,
    endMs: WORLD_CREATED_MS + 11_000,
    attributes: { "parley.call.end_reason": "hangup" },
  });
  const turns = traces.ended.filter(({ name }) => name === "turn");
  expect(turns.map(({ parentId, attributes }) => [parentId, attributes["parley.turn.cause"]])).toEqual([
    [call?.spanId, "opening"],
    [call?.spanId, "speech"],
  ]);
});

test("a call of a trace that is not recorded is not traced, and runs", async () => {
  const traces = openFakeTraces();
  const world = openWorld(traces);
  await converse(world, { traceParent: PARENT.replace(/01$/, "00") });
  expect(traces.ended).toEqual([]);
  expect(world.ends).toMatchObject([{ reason: "hangup", turns: 1 }]);
});

test("a fault of the traces ends the traces of the call, and is logged once", async () => {
  const broken = (): never => {
    throw new Error("a mistake");
  };
  const traces: Traces = {
    startCall: () => ({ child: broken, set: broken, rename: broken, note: broken, end: broken }),
    close: () => Promise.resolve(),
  };
  const world = openWorld(traces);
  await converse(world);
  expect(world.logged).toEqual(["the traces of a call failed"]);
  expect(world.ends).toMatchObject([{ reason: "hangup", turns: 1 }]);
});
