import { expect, it } from "vitest";
import { openDeliveryConcurrency } from "./delivery-concurrency.ts";

/** Of an account of its own. */
const delivery = (receiver: string) => ({ receiver, accountId: `account of ${receiver}` });

function fill(
  concurrency: ReturnType<typeof openDeliveryConcurrency>,
  receiver: string,
  count: number,
): void {
  for (let turn = 0; turn < count; turn += 1) concurrency.start(delivery(receiver));
}

it("gives one receiver no more than its share, and others theirs", () => {
  const concurrency = openDeliveryConcurrency();
  fill(concurrency, "slow", 32);
  const { total, perReceiver, receivers } = concurrency.room();
  expect([total, perReceiver, receivers.get("slow")]).toEqual([480, 32, 0]);
});

it("gives each receiver one when it is crowded, and none beyond the whole", () => {
  const concurrency = openDeliveryConcurrency();
  for (let receiver = 0; receiver < 8; receiver += 1) fill(concurrency, `slow ${receiver}`, 32);
  expect(concurrency.room().perReceiver).toBe(1);
  expect(concurrency.room().receivers.get("slow 0")).toBeLessThanOrEqual(0);
  for (let receiver = 0; receiver < 256; receiver += 1) fill(concurrency, `one ${receiver}`, 1);
  expect(concurrency.room().total).toBe(0);
});

it("keeps a receiver short whose last attempt failed, until one succeeds", () => {
  const concurrency = openDeliveryConcurrency();
  concurrency.start(delivery("ill"));
  concurrency.finish(delivery("ill"), true);
  expect(concurrency.room().receivers.get("ill")).toBe(2);
  concurrency.start(delivery("ill"));
  // Cut off: no result for the receiver.
  concurrency.finish(delivery("ill"), null);
  expect(concurrency.room().receivers.get("ill")).toBe(2);
  concurrency.start(delivery("ill"));
  concurrency.finish(delivery("ill"), false);
  expect(concurrency.room().receivers.has("ill")).toBe(false);
  expect(concurrency.inFlight()).toBe(0);
});

it("leaves a quarter to others, however many receivers one account has", () => {
  const concurrency = openDeliveryConcurrency();
  const many = Array.from({ length: 384 }, (_, n) => ({ receiver: `receiver ${n}`, accountId: "one" }));
  for (const one of many) concurrency.start(one);
  const { total, perAccount, accounts } = concurrency.room();
  expect([total, perAccount, accounts.get("one"), accounts.get("other")]).toEqual([128, 384, 0, undefined]);
  for (const one of many) concurrency.finish(one, false);
  expect([
    concurrency.room().accounts.size,
    concurrency.room().receivers.size,
    concurrency.inFlight(),
  ]).toEqual([0, 0, 0]);
});
