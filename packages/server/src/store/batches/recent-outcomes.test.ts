import { expect, test } from "vitest";
import { addOutcomes, failsTooOften } from "./recent-outcomes.ts";
import type { RecentOutcomes } from "../database/tables/batches.ts";

const [success, failure, neither] = [{ counts: "success" }, { counts: "failure" }, { counts: null }] as const;
const at = (seconds: number): number => 1_000_000_000 * 1000 + seconds * 1000;

test("outcomes are counted in buckets of some seconds, and those of two minutes are retained", () => {
  let recent: RecentOutcomes = [];
  recent = addOutcomes(recent, [success, failure, neither], at(0));
  recent = addOutcomes(recent, [failure], at(5));
  expect(recent).toEqual([[1_000_000_000, 3, 2]]);
  recent = addOutcomes(recent, [success], at(60));
  expect(recent).toEqual([
    [1_000_000_000, 3, 2],
    [1_000_000_060, 1, 0],
  ]);
  expect(addOutcomes(recent, [neither], at(131))).toEqual([[1_000_000_060, 1, 0]]);
  for (let seconds = 0; seconds < 1_000; seconds += 3) recent = addOutcomes(recent, [success], at(seconds));
  expect(recent.length).toBeLessThanOrEqual(14);
});

test("a rate needs at least five outcomes, one of them a failure", () => {
  expect(failsTooOften([[0, 4, 4]], 0.5)).toBe(false);
  expect(
    failsTooOften(
      [
        [0, 3, 1],
        [10, 3, 2],
      ],
      0.5,
    ),
  ).toBe(true);
  expect(failsTooOften([[0, 6, 2]], 0.5)).toBe(false);
  expect([failsTooOften([[0, 100, 0]], 0), failsTooOften([[0, 100, 1]], 0)]).toEqual([false, true]);
  expect([failsTooOften([[0, 100, 99]], 1), failsTooOften([[0, 100, 100]], 1)]).toEqual([false, true]);
});
