import { expect, it } from "vitest";
import { backoffMs } from "./backoff.ts";

it("doubles with each failure, up to the longest wait", () => {
  const backoff = { firstMs: 100, longestMs: 1_500 };
  expect([0, 1, 2, 3, 4, 5].map((failures) => backoffMs(backoff, failures))).toEqual([
    100, 200, 400, 800, 1_500, 1_500,
  ]);
});

it("stays finite, however many attempts failed", () => {
  expect(backoffMs({ firstMs: 1, longestMs: Number.MAX_SAFE_INTEGER }, 5_000)).toBe(2 ** 20);
});
