import { expect, it } from "vitest";
import { openLanes } from "./lanes.ts";

function fill(lanes: ReturnType<typeof openLanes>, receiver: string, count: number): void {
  for (let turn = 0; turn < count; turn += 1) lanes.enter(receiver);
}

it("gives one receiver no more than its share, and others theirs", () => {
  const lanes = openLanes();
  fill(lanes, "slow", 32);
  const { total, perReceiver, receivers } = lanes.room();
  expect([total, perReceiver, receivers.get("slow")]).toEqual([480, 32, 0]);
});

it("gives each receiver one when it is crowded, and none beyond the whole", () => {
  const lanes = openLanes();
  for (let receiver = 0; receiver < 8; receiver += 1) fill(lanes, `slow ${receiver}`, 32);
  expect(lanes.room().perReceiver).toBe(1);
  expect(lanes.room().receivers.get("slow 0")).toBeLessThanOrEqual(0);
  for (let receiver = 0; receiver < 256; receiver += 1) fill(lanes, `one ${receiver}`, 1);
  expect(lanes.room().total).toBe(0);
});

it("keeps a receiver short whose last attempt failed, until one succeeds", () => {
  const lanes = openLanes();
  lanes.enter("ill");
  lanes.leave("ill", true);
  expect(lanes.room().receivers.get("ill")).toBe(2);
  lanes.enter("ill");
  // Cut off: says nothing about it.
  lanes.leave("ill", null);
  expect(lanes.room().receivers.get("ill")).toBe(2);
  lanes.enter("ill");
  lanes.leave("ill", false);
  expect(lanes.room().receivers.has("ill")).toBe(false);
  expect(lanes.inFlight()).toBe(0);
});
