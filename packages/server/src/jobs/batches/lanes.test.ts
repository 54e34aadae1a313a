import { expect, test } from "vitest";
import type { ClaimedBatch } from "../../store/batch-claims.ts";
import { openGate } from "../../net/gate.ts";
import { openBatchLanes } from "./lanes.ts";

function batchOf(batchId: string, calls: number, accountId = batchId): ClaimedBatch {
  return {
    batchId,
    accountId,
    agentId: "agent",
    throttle: null,
    webhookUrl: null,
    webhookSecret: null,
    extensions: {},
    calls: Array.from({ length: calls }, (_, position) => ({
      batchId,
      position,
      claimId: `${batchId}-${position}`,
      attempts: 0,
      callId: null,
      document: {},
    })),
  };
}

test("a batch begins with one call, doubles while it goes well, and goes back to one", () => {
  const lanes = openBatchLanes();
  lanes.enter(batchOf("a", 100));
  const begun = (): number => {
    let count = 0;
    while (lanes.next() !== null) count += 1;
    return count;
  };
  const pace: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const count = begun();
    pace.push(count);
    for (let left = 0; left < count; left += 1) lanes.leave("a", "well");
  }
  expect(pace).toEqual([1, 2, 8, 16, 16, 16]);
  expect(begun()).toBe(16);
  for (let left = 0; left < 16; left += 1) lanes.leave("a", "badly");
  expect(begun()).toBe(1);
});

test("an account leaves a quarter to others, however many batches it has", () => {
  const lanes = openBatchLanes();
  const begun = (): string[] => {
    const accounts: string[] = [];
    for (let work = lanes.next(); work !== null; work = lanes.next()) accounts.push(work.batch.accountId);
    return accounts;
  };
  for (let batch = 0; batch < 60; batch += 1) lanes.enter(batchOf(`batch ${batch}`, 1, "greedy"));
  expect(lanes.room()?.fullAccounts).toEqual([]);
  expect(begun()).toHaveLength(48);
  for (let batch = 60; batch < 96; batch += 1) lanes.enter(batchOf(`batch ${batch}`, 1, "greedy"));
  expect(lanes.room()?.fullAccounts).toEqual(["greedy"]);
  lanes.enter(batchOf("of another", 1, "other"));
  expect(begun()).toEqual(["other"]);
  lanes.leave("batch 0", "well");
  expect(begun()).toEqual(["greedy"]);
});

test("batches take turns, each within its room", () => {
  const lanes = openBatchLanes();
  expect(lanes.room()).toEqual({ perBatch: 2, batches: new Map(), fullAccounts: [] });
  lanes.enter(batchOf("a", 2));
  lanes.enter(batchOf("b", 2));
  expect(lanes.room()?.batches).toEqual(
    new Map([
      ["a", 0],
      ["b", 0],
    ]),
  );
  const next = (): string | undefined => lanes.next()?.call.claimId;
  expect([next(), next(), next()]).toEqual(["a-0", "b-0", undefined]);
  lanes.leave("a", "well");
  expect([next(), next()]).toEqual(["a-1", undefined]);
  lanes.remove("b-1");
  lanes.leave("b", "well");
  expect(next()).toBeUndefined();
  expect(lanes.room()?.batches.get("b")).toBe(4);
});

test("nothing of a batch is begun or claimed while its wait is written", () => {
  const lanes = openBatchLanes();
  lanes.enter(batchOf("a", 2));
  expect(lanes.next()?.call.position).toBe(0);
  lanes.hold("a");
  lanes.leave("a", "badly");
  expect([lanes.next(), lanes.room()?.batches.get("a"), lanes.isHeld("a")]).toEqual([null, 0, true]);
  lanes.letGo("a");
  expect(lanes.next()?.call.position).toBe(1);
});

test("what was not begun can be taken out", () => {
  const lanes = openBatchLanes();
  lanes.enter(batchOf("a", 3));
  lanes.next();
  expect(lanes.drop("a").map(({ call }) => call.position)).toEqual([1, 2]);
  expect([lanes.drop("a"), lanes.drop("b"), lanes.next()]).toEqual([[], [], null]);
});

test("a gate lets so much work through at a time, in order, also after a failure", async () => {
  const gate = openGate(2);
  const begun: number[] = [];
  const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  const done = ends.map(({ promise }, index) =>
    gate(async () => {
      begun.push(index);
      await promise;
      return index;
    }),
  );
  await expect.poll(() => begun).toEqual([0, 1]);
  ends[1]?.reject(new Error("no"));
  await expect(done[1]).rejects.toThrow("no");
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  for (const { resolve } of ends) resolve();
  expect(await Promise.all([done[0], done[2], done[3]])).toEqual([0, 2, 3]);
});

test("a batch wants a claim once half of its places' worth is free, and not while it is held", () => {
  const lanes = openBatchLanes();
  expect(lanes.wants("a")).toBe(true);
  lanes.enter(batchOf("a", 2));
  expect(lanes.wants("a")).toBe(false);
  lanes.next();
  lanes.leave("a", "well");
  // Two places now, so four may be claimed: one waits, three are free.
  expect(lanes.wants("a")).toBe(true);
  lanes.hold("a");
  expect(lanes.wants("a")).toBe(false);
  lanes.letGo("a");
  lanes.enter(batchOf("a", 2));
  expect(lanes.wants("a")).toBe(false);
});

test("a limit that says no halves the pace of a batch, however many calls it sends back", () => {
  const lanes = openBatchLanes();
  const begun = (): number => {
    let count = 0;
    while (lanes.next() !== null) count += 1;
    return count;
  };
  lanes.enter(batchOf("a", 100));
  for (let round = 0; round < 4; round += 1) {
    for (let left = begun(); left > 0; left -= 1) lanes.leave("a", "well");
  }
  expect(begun()).toBe(16);
  for (let left = 16; left > 1; left -= 1) {
    lanes.leave("a", "later");
    lanes.hold("a");
  }
  lanes.letGo("a");
  // One is still under way.
  expect(begun()).toBe(7);
});
