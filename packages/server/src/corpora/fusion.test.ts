import * as fc from "fast-check";
import { expect, it } from "vitest";
import { fallingScores, fuse, RANK_CONSTANT } from "./fusion.ts";

it("prefers what both ways of searching have found", () => {
  const fused = fuse([1, 2, 3], [3, 4]);
  expect(fused.map(({ chunkId, textRank, vectorRank }) => [chunkId, textRank, vectorRank])).toEqual([
    [3, 3, 1],
    [1, 1, null],
    [2, 2, null],
    [4, null, 2],
  ]);
  expect(fused[0]?.weight).toBeCloseTo(1 / (RANK_CONSTANT + 3) + 1 / (RANK_CONSTANT + 1));
});

it("has every chunk of both lists once, best first, whatever the lists", () => {
  const list = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 50 });
  fc.assert(
    fc.property(list, list, (byText, byVector) => {
      const fused = fuse(byText, byVector);
      expect(new Set(fused.map(({ chunkId }) => chunkId))).toEqual(new Set([...byText, ...byVector]));
      expect(fused).toHaveLength(new Set([...byText, ...byVector]).size);
      const weights = fused.map(({ weight }) => weight);
      expect(weights).toEqual(weights.toSorted((a, b) => b - a));
    }),
  );
});

it("makes scores fall, keeps those that do, and their mean", () => {
  expect(fallingScores([0.9, 0.5, 0.7, 0.1])).toEqual([0.9, 0.6, 0.6, 0.1]);
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 60 }), (scores) => {
      const falling = fallingScores(scores);
      expect(falling).toHaveLength(scores.length);
      for (const [place, score] of falling.entries()) {
        expect(score).toBeLessThanOrEqual((falling[place - 1] ?? 1) + 1e-9);
        expect(score).toBeGreaterThanOrEqual(0);
      }
      const sum = (list: readonly number[]) => list.reduce((total, score) => total + score, 0);
      expect(sum(falling)).toBeCloseTo(sum(scores), 6);
      const sorted = scores.toSorted((a, b) => b - a);
      expect(fallingScores(sorted).map((score) => score.toFixed(9))).toEqual(sorted.map((s) => s.toFixed(9)));
    }),
  );
});
