import { expect, test } from "vitest";
import type { ClaimedBatch } from "../../store/batches/batch-claims.ts";
import { openBatchConcurrency } from "./batch-concurrency.ts";

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
  const concurrency = openBatchConcurrency();
  concurrency.add(batchOf("a", 100));
  const begun = (): number => {
    let count = 0;
    while (concurrency.next() !== null) count += 1;
    return count;
  };
  const pace: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const count = begun();
    pace.push(count);
    for (let left = 0; left < count; left += 1) concurrency.finish("a", "well");
  }
  expect(pace).toEqual([1, 2, 8, 16, 16, 16]);
  expect(begun()).toBe(16);
  for (let left = 0; left < 16; left += 1) concurrency.finish("a", "badly");
  expect(begun()).toBe(1);
});

test("an account leaves a quarter to others, however many batches it has", () => {
  const concurrency = openBatchConcurrency();
  const begun = (): string[] => {
    const accounts: string[] = [];
    for (let work = concurrency.next(); work !== null; work = concurrency.next())
      accounts.push(work.batch.accountId);
    return accounts;
  };
  for (let batch = 0; batch < 60; batch += 1) concurrency.add(batchOf(`batch ${batch}`, 1, "greedy"));
  expect(concurrency.room()?.fullAccounts).toEqual([]);
  expect(begun()).toHaveLength(48);
  for (let batch = 60; batch < 96; batch += 1) concurrency.add(batchOf(`batch ${batch}`, 1, "greedy"));
  expect(concurrency.room()?.fullAccounts).toEqual(["greedy"]);
  concurrency.add(batchOf("of another", 1, "other"));
  expect(begun()).toEqual(["other"]);
  concurrency.finish("batch 0", "well");
  expect(begun()).toEqual(["greedy"]);
});

test("batches take turns, each within its room", () => {
  const concurrency = openBatchConcurrency();
  expect(concurrency.room()).toEqual({ perBatch: 2, batches: new Map(), fullAccounts: [] });
  concurrency.add(batchOf("a", 2));
  concurrency.add(batchOf("b", 2));
  expect(concurrency.room()?.batches).toEqual(
    new Map([
      ["a", 0],
      ["b", 0],
    ]),
  );
  const next = (): string | undefined => concurrency.next()?.call.claimId;
  expect([next(), next(), next()]).toEqual(["a-0", "b-0", undefined]);
  concurrency.finish("a", "well");
  expect([next(), next()]).toEqual(["a-1", undefined]);
  concurrency.remove("b-1");
  concurrency.finish("b", "well");
  expect(next()).toBeUndefined();
  expect(concurrency.room()?.batches.get("b")).toBe(4);
});

test("nothing of a batch is begun or claimed while its wait is written", () => {
  const concurrency = openBatchConcurrency();
  concurrency.add(batchOf("a", 2));
  expect(concurrency.next()?.call.position).toBe(0);
  concurrency.hold("a");
  concurrency.finish("a", "badly");
  expect([concurrency.next(), concurrency.room()?.batches.get("a"), concurrency.isHeld("a")]).toEqual([
    null,
    0,
    true,
  ]);
  concurrency.release("a");
  expect(concurrency.next()?.call.position).toBe(1);
});

test("calls that were not begun can be removed", () => {
  const concurrency = openBatchConcurrency();
  concurrency.add(batchOf("a", 3));
  concurrency.next();
  expect(concurrency.drop("a").map(({ call }) => call.position)).toEqual([1, 2]);
  expect([concurrency.drop("a"), concurrency.drop("b"), concurrency.next()]).toEqual([[], [], null]);
});

test("a batch wants a claim once half of its places' worth is free, and not while it is held", () => {
  const concurrency = openBatchConcurrency();
  expect(concurrency.wants("a")).toBe(true);
  concurrency.add(batchOf("a", 2));
  expect(concurrency.wants("a")).toBe(false);
  concurrency.next();
  concurrency.finish("a", "well");
  // Two places now, so four may be claimed: one waits, three are free.
  expect(concurrency.wants("a")).toBe(true);
  concurrency.hold("a");
  expect(concurrency.wants("a")).toBe(false);
  concurrency.release("a");
  concurrency.add(batchOf("a", 2));
  expect(concurrency.wants("a")).toBe(false);
});

test("a limit that says no halves the pace of a batch, however many calls it sends back", () => {
  const concurrency = openBatchConcurrency();
  const begun = (): number => {
    let count = 0;
    while (concurrency.next() !== null) count += 1;
    return count;
  };
  concurrency.add(batchOf("a", 100));
  for (let round = 0; round < 4; round += 1) {
    for (let left = begun(); left > 0; left -= 1) concurrency.finish("a", "well");
  }
  expect(begun()).toBe(16);
  for (let left = 16; left > 1; left -= 1) {
    concurrency.finish("a", "later");
    concurrency.hold("a");
  }
  concurrency.release("a");
  // One is still under way.
  expect(begun()).toBe(7);
});
