import { expect, it } from "vitest";
import { nearnessOf, relevanceOf } from "./relevance.ts";

it("rises with the words that a chunk has, and with its nearness", () => {
  const scores = [0, 0.5, 1].flatMap((coverage) =>
    [-3, 0, 3].map((nearness) => relevanceOf({ coverage, nearness, rank: 1 })),
  );
  for (const score of scores) {
    expect(score).toBeGreaterThan(0);
    expect(score).toBeLessThan(1);
  }
  for (const first of [0, 3, 6]) {
    const row = scores.slice(first, first + 3);
    expect(row).toEqual(row.toSorted((a, b) => a - b));
  }
  expect(relevanceOf({ coverage: 1, nearness: null, rank: 1 })).toBeGreaterThan(
    relevanceOf({ coverage: 0.2, nearness: null, rank: 1 }),
  );
  expect(relevanceOf({ coverage: 0.5, nearness: 1, rank: 1 })).toBeGreaterThan(
    relevanceOf({ coverage: 0.5, nearness: 1, rank: 2 }),
  );
});

it("counts what a corpus has in common as nothing, and more chunks as more chance", () => {
  const background = { mean: 0.8, deviation: 0.02, count: 100 };
  expect(nearnessOf(0.8, background)).toBeLessThan(0);
  expect(nearnessOf(0.9, background)).toBeGreaterThan(0);
  expect(nearnessOf(0.9, { ...background, count: 100_000 })).toBeLessThan(nearnessOf(0.9, background));
  expect(nearnessOf(0.9, { ...background, deviation: 0 })).toBe(0);
  // One chunk has no spread of its own.
  expect(Number.isFinite(nearnessOf(0.9, { mean: 0.9, deviation: 0, count: 1 }))).toBe(true);
});
