import { expect, test } from "vitest";
import { ConcurrencyLimit } from "./concurrency-limit.ts";

test("refuses work of a key beyond its limit, until some has ended", async () => {
  const limit = new ConcurrencyLimit(2);
  const ends = [0, 1, 2].map(() => Promise.withResolvers<number>());
  const work = (index: number) => () => ends[index]?.promise ?? Promise.reject(new Error("none"));
  const first = limit.run("a", work(0));
  const second = limit.run("a", work(1));
  expect(limit.run("a", () => Promise.reject(new Error("must not be called")))).toBeNull();
  const other = limit.run("b", work(2));
  ends[0]?.reject(new Error("no"));
  await expect(first).rejects.toThrow("no");
  expect(await limit.run("a", () => Promise.resolve(7))).toBe(7);
  ends[1]?.resolve(1);
  ends[2]?.resolve(2);
  expect(await Promise.all([second, other])).toEqual([1, 2]);
});
