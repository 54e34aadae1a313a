import { expect, it } from "vitest";
import { openLanes } from "./lanes.ts";

/** Of an account of its own. */
const guest = (receiver: string) => ({ receiver, accountId: `account of ${receiver}` });

function fill(lanes: ReturnType<typeof openLanes>, receiver: string, count: number): void {
  for (let turn = 0; turn < count; turn += 1) lanes.enter(guest(receiver));
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
  lanes.enter(guest("ill"));
  lanes.leave(guest("ill"), true);
  expect(lanes.room().receivers.get("ill")).toBe(2);
  lanes.enter(guest("ill"));
  // Cut off: says nothing about it.
  lanes.leave(guest("ill"), null);
  expect(lanes.room().receivers.get("ill")).toBe(2);
  lanes.enter(guest("ill"));
  lanes.leave(guest("ill"), false);
  expect(lanes.room().receivers.has("ill")).toBe(false);
  expect(lanes.inFlight()).toBe(0);
});

it("leaves a quarter to others, however many receivers one account has", () => {
  const lanes = openLanes();
  const many = Array.from({ length: 384 }, (_, n) => ({ receiver: `receiver ${n}`, accountId: "one" }));
  for (const one of many) lanes.enter(one);
  const { total, perAccount, accounts } = lanes.room();
  expect([total, perAccount, accounts.get("one"), accounts.get("other")]).toEqual([128, 384, 0, undefined]);
  for (const one of many) lanes.leave(one, false);
  expect([lanes.room().accounts.size, lanes.room().receivers.size, lanes.inFlight()]).toEqual([0, 0, 0]);
});
