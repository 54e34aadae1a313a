import { expect, test } from "vitest";
import { creationTime } from "./creation-time.ts";

const START_MS = Date.parse("2100-01-01T00:00:00Z");
const at = (ms: number): number => creationTime(START_MS + ms).getTime() - START_MS;

test("moments follow each other, and the clock when it has gone on", () => {
  expect([at(0), at(0), at(0), at(1), at(50)]).toEqual([0, 1, 2, 3, 50]);
});

test("a clock that was set back is not kept up with for long, nor is a flood", () => {
  expect(at(1_000)).toBe(1_000);
  expect(at(0)).toBe(0);
  const flood = Array.from({ length: 300 }, () => at(2_000));
  expect(Math.max(...flood)).toBe(2_100);
});
