/** A call that one process hands over to another one, on a manual clock. */

import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initResampler } from "../media/resample.ts";
import { openCallWorld } from "./testing/call-world.ts";
import type { PlanChanges } from "./testing/plan.ts";

const FIRST = "Good evening and welcome to the hotel by the sea.";
const PLAN: PlanChanges = {
  firstSpeaker: {
    kind: "agent",
    delayMs: 0,
    text: `${FIRST} My name is Ada. How can I help you today?`,
    prompt: null,
    uninterruptible: false,
  },
};
const USER_FIRST: PlanChanges = { firstSpeaker: { kind: "user", fallback: null } };
const RETURNS = ["reconnect"];

beforeAll(async () => {
  await initResampler(nodeProcess);
});

const openWorld = (keepsSnapshots = true) =>
  openCallWorld(undefined, undefined, undefined, undefined, null, undefined, null, keepsSnapshots);

test("a drain hands a call over at the end of its sentence, with its last snapshot", async () => {
  const { clock, records, calls, joined } = openWorld();
  const { plan, transport } = await joined(PLAN, RETURNS);
  await clock.advance(500);
  const draining = calls.drain(20_000);
  await clock.advance(200);
  expect(transport.closedWith).toBeNull();
  await clock.advance(15_000);
  expect(await draining).toEqual({ ended: 0, cut: 0, waiting: 0, handedOver: 1 });
  expect(transport.closedWith).toBe(1012);
  expect(records.handedOver).toEqual([plan.callId]);
  expect(records.ends).toEqual([]);
  const state = records.snapshots.at(-1)?.record.snapshot.state;
  expect(state?.handover?.isReady).toBe(true);
  const segments = state?.reply?.segments ?? [];
  expect(segments.map(({ text, status }) => [text, status === "played"])).toEqual([
    [FIRST, true],
    ["My name is Ada.", false],
    ["How can I help you today?", false],
  ]);
  expect(calls.count()).toBe(0);
  expect(clock.pending()).toBe(0);
});

test("a drain hands calls over at once where nobody speaks, and ends those whose clients do not come back", async () => {
  const { clock, records, calls, joined } = openWorld();
  const returning = await joined(USER_FIRST, RETURNS);
  const other = await joined(USER_FIRST);
  await clock.advance(500);
  const draining = calls.drain(5_000);
  await clock.advance(2_000);
  expect(returning.transport.closedWith).toBe(1012);
  expect(other.transport.closedWith).toBeNull();
  await clock.advance(10_000);
  expect(await draining).toEqual({ ended: 0, cut: 1, waiting: 0, handedOver: 1 });
  expect(records.handedOver).toEqual([returning.plan.callId]);
  expect(records.ends.map(({ callId }) => callId)).toEqual([other.plan.callId]);
});

test("a drain hands over a call whose client is lost", async () => {
  const { clock, records, calls, joined } = openWorld();
  const { plan, transport } = await joined(USER_FIRST);
  await clock.advance(500);
  transport.lose(false, 1006);
  const draining = calls.drain(20_000);
  await clock.advance(2_000);
  expect(await draining).toMatchObject({ handedOver: 1 });
  expect(records.handedOver).toEqual([plan.callId]);
});

test("another node gets a call whose client is lost, and not one whose client is connected", async () => {
  const { clock, records, calls, joined } = openWorld();
  const { plan, transport } = await joined(USER_FIRST);
  await clock.advance(500);
  expect(await calls.handOver(plan.callId)).toBe("joined");
  transport.lose(false, 1006);
  // Two nodes ask at once.
  const asked = [calls.handOver(plan.callId), calls.handOver(plan.callId)];
  await clock.advance(2_000);
  expect(await Promise.all(asked)).toEqual(["handed_over", "handed_over"]);
  expect(records.handedOver).toEqual([plan.callId]);
  expect(await calls.handOver(plan.callId)).toBe("gone");
  expect(records.ends).toEqual([]);
  expect(calls.count()).toBe(0);
});

test("without snapshots nothing is handed over", async () => {
  const { clock, records, calls, joined } = openWorld(false);
  const { plan, transport } = await joined(USER_FIRST, RETURNS);
  await clock.advance(500);
  transport.lose(false, 1006);
  expect(await calls.handOver(plan.callId)).toBe("kept");
  expect(records.handedOver).toEqual([]);
});

test("a call that cannot be given up is closed without an end, for the process that finds it orphaned", async () => {
  const { clock, records, calls, joined, logged } = openWorld();
  const { transport } = await joined(USER_FIRST, RETURNS);
  await clock.advance(500);
  Object.assign(records, { handOver: () => Promise.reject(new Error("the database is away")) });
  const draining = calls.drain(20_000);
  await clock.advance(5_000);
  expect(await draining).toMatchObject({ cut: 0, handedOver: 0 });
  expect(transport.closedWith).toBe(1012);
  expect(records.ends).toEqual([]);
  expect(logged).toContain("a call could not be given up, and waits for the end of this process");
});
