import { expect, test } from "vitest";
import { openRemovalRetries } from "./removal-retries.ts";

test("a removal that fails is retried until the database is back", async () => {
  const removed: string[] = [];
  let [isDown, attempts] = [true, 0];
  const remove = openRemovalRetries(async (accountId, callId) => {
    attempts += 1;
    if (isDown) throw new Error("down");
    removed.push(`${accountId} ${callId}`);
  }, 5);
  await expect(remove("a", "1")).rejects.toThrow("down");
  await expect(remove("b", "2")).rejects.toThrow("down");
  await expect.poll(() => attempts).toBeGreaterThan(4);
  expect(removed).toEqual([]);
  isDown = false;
  await expect.poll(() => removed).toEqual(["a 1", "b 2"]);
  await remove("c", "3");
  expect(removed).toEqual(["a 1", "b 2", "c 3"]);
});
