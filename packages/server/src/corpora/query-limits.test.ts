import { expect, test } from "vitest";
import { BusyError } from "../pacing/busy.ts";
import { openQueryLimits } from "./query-limits.ts";

/** Searches that wait for their model until they are told to go on. */
function searches() {
  const limits = openQueryLimits(0, () => 0);
  const waiting: PromiseWithResolvers<void>[] = [];
  const slow = (accountId: string): Promise<string> =>
    limits.run(accountId, async () => {
      const model = Promise.withResolvers<void>();
      waiting.push(model);
      await model.promise;
      return limits.inDatabase(accountId, () => Promise.resolve("slow"));
    });
  return { limits, waiting, slow };
}

test("searches that wait for a slow model hold no place of the database", async () => {
  const { limits, waiting, slow } = searches();
  const all = ["a", "b"].flatMap((accountId) => Array.from({ length: 10 }, () => slow(accountId)));
  await expect.poll(() => waiting.length, { timeout: 30_000 }).toBe(20);
  const quick = limits.run("c", () => limits.inDatabase("c", () => Promise.resolve("quick")));
  expect(await quick).toBe("quick");
  for (const { resolve } of waiting) resolve();
  expect(new Set(await Promise.all(all))).toEqual(new Set(["slow"]));
});

test("an account that fills its part of the queue is refused, and another one is not", async () => {
  const { limits, waiting, slow } = searches();
  const all = Array.from({ length: 48 }, () => slow("a"));
  await expect.poll(() => waiting.length, { timeout: 30_000 }).toBe(16);
  await expect(slow("a")).rejects.toBeInstanceOf(BusyError);
  expect(await limits.run("b", () => Promise.resolve("served"))).toBe("served");
  const settled = Promise.all(all);
  for (let count = 0; count < 48; count += 1) {
    await expect.poll(() => waiting.length, { timeout: 30_000 }).toBeGreaterThan(count);
    waiting[count]?.resolve();
  }
  expect(await settled).toHaveLength(48);
});
