import { expect, test } from "vitest";
import { openWithdrawals } from "./withdrawals.ts";

test("what cannot be taken back is tried again until the database is back", async () => {
  const taken: string[] = [];
  let [isAway, asked] = [true, 0];
  const withdraw = openWithdrawals(async (accountId, callId) => {
    asked += 1;
    if (isAway) throw new Error("away");
    taken.push(`${accountId} ${callId}`);
  }, 5);
  await expect(withdraw("a", "1")).rejects.toThrow("away");
  await expect(withdraw("b", "2")).rejects.toThrow("away");
  await expect.poll(() => asked).toBeGreaterThan(4);
  expect(taken).toEqual([]);
  isAway = false;
  await expect.poll(() => taken).toEqual(["a 1", "b 2"]);
  await withdraw("c", "3");
  expect(taken).toEqual(["a 1", "b 2", "c 3"]);
});
