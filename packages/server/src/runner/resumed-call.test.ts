/** A call that one process leaves and another one continues, on a manual clock. */

import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initResampler } from "../media/resample.ts";
import type { Recordings } from "../ports/recordings.ts";
import type { SnapshotRecord } from "./records/call-records.ts";
import type { ResumedCall } from "./resumed-call.ts";
import { openCallWorld, WORLD_CREATED_MS } from "./testing/call-world.ts";
import { openMemoryRecordings } from "./testing/memory-recordings.ts";
import type { PlanChanges } from "./testing/plan.ts";

const GREETING = "Good evening and welcome. My name is Ada. How can I help you today?";
const PLAN: PlanChanges = {
  recordingEnabled: true,
  firstSpeaker: { kind: "agent", delayMs: 0, text: GREETING, prompt: null, uninterruptible: false },
};

beforeAll(async () => {
  await initResampler(nodeProcess);
});

function openWorld(recordings: Recordings) {
  return openCallWorld(undefined, recordings, undefined, undefined, null, undefined, null, true);
}

/** A call in its greeting, and what is stored of it. */
async function lostCall(recordings: Recordings) {
  const world = openWorld(recordings);
  const { plan } = await world.joined(PLAN);
  await world.clock.advance(1_500);
  const last = world.records.snapshots.at(-1)?.record;
  const { snapshot, counts, use } = JSON.parse(JSON.stringify(last)) as SnapshotRecord;
  const resumed: ResumedCall = {
    snapshot,
    counts,
    use,
    recorded: [],
    elapsedMs: 5_000,
    eventLog: { chunks: 2, events: 100 },
  };
  return { plan, resumed };
}

test("goes on with its state, its clock, its recording and the numbers of its records", async () => {
  const recordings = openMemoryRecordings();
  const { plan, resumed } = await lostCall(recordings);
  const { clock, records, calls, join } = openWorld(recordings);
  calls.startCall(plan, { createdAt: new Date(WORLD_CREATED_MS), resumed });
  expect(calls.joinState(plan.callId)).toBe("joinable");
  const { outcome, transport } = await join(plan.callId);
  expect(outcome).toBe("connected");
  await clock.advance(8_000);
  expect(records.joins).toEqual([]);
  expect(records.events.filter(({ event }) => event.type === "call.resumed")).toHaveLength(1);
  const agent = records.messages
    .filter(({ message }) => message.role === "agent")
    .map(({ message }) => message.text);
  expect(agent.at(-1)).toContain("How can I help you today?");
  transport?.lose(true, 1000);
  await clock.advance(1_000);
  const [end] = records.ends;
  expect(end?.record.reason).toBe("hangup");
  expect(end?.record.eventLog?.chunks).toBeGreaterThan(2);
  expect(end?.record.eventLog?.events).toBeGreaterThan(100);
  const { left, sampleRateHz } = recordings.read(plan.callId);
  // Five seconds without a process, and eight with the second one.
  expect(left.length / sampleRateHz).toBeGreaterThan(13);
  expect(calls.count()).toBe(0);
});

test("is released without an end when its client does not connect", async () => {
  const recordings = openMemoryRecordings();
  const { plan, resumed } = await lostCall(recordings);
  const { records, calls } = openWorld(recordings);
  calls.startCall(plan, { createdAt: new Date(WORLD_CREATED_MS), resumed });
  expect(calls.endUnjoined(plan.callId)).toBe(false);
  expect(await calls.release(plan.callId)).toBe(true);
  expect([calls.count(), records.ends.length, records.events.length]).toEqual([0, 0, 0]);
});

test("takes no message before its client is back, because its state would not have it", async () => {
  const recordings = openMemoryRecordings();
  const { plan, resumed } = await lostCall(recordings);
  const { clock, records, calls, join } = openWorld(recordings);
  calls.startCall(plan, { createdAt: new Date(WORLD_CREATED_MS), resumed });
  const message = { type: "hang_up", message: "" } as const;
  expect(calls.sendToCall(plan.callId, message)).toBe("later");
  await join(plan.callId);
  await clock.advance(1_000);
  expect(calls.sendToCall(plan.callId, message)).toBe("accepted");
  await clock.advance(3_000);
  // The same record may be written twice.
  expect(new Set(records.ends.map(({ record }) => record.reason))).toEqual(new Set(["agent_hangup"]));
});

test("stops without an end when another process has taken it", async () => {
  const recordings = openMemoryRecordings();
  const { clock, records, calls, joined } = openWorld(recordings);
  const { plan, transport } = await joined(PLAN);
  await clock.advance(500);
  calls.abandon(plan.callId);
  await clock.advance(3_000);
  expect(transport.closedWith).toBe(1012);
  expect([calls.count(), records.ends.length]).toEqual([0, 0]);
});
