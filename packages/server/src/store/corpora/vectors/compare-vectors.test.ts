import * as fc from "fast-check";
import { expect, it } from "vitest";
import { compareVectors } from "./compare-vectors.ts";

const number = fc.double({ min: -1, max: 1, noNaN: true });

it("finds the nearest of all parts, and the mean of all", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.tuple(number, number, number), { maxLength: 12 }), { maxLength: 4 }),
      fc.tuple(number, number, number),
      fc.integer({ min: 1, max: 8 }),
      (parts, asked, limit) => {
        let nextId = 1;
        const loaded = parts.map((vectors) => ({
          chunkIds: Float64Array.from(vectors, () => nextId++),
          numbers: Float32Array.from(vectors.flat()),
        }));
        const vector = Float32Array.from(asked);
        const all = loaded.flatMap(({ chunkIds, numbers }) =>
          Array.from(chunkIds, (chunkId, place) => ({
            chunkId,
            cosine: [0, 1, 2].reduce(
              (sum, part) => sum + (numbers[place * 3 + part] ?? 0) * (vector[part] ?? 0),
              0,
            ),
          })),
        );
        const { near, background } = compareVectors(loaded, vector, limit);
        const wanted = all.toSorted((a, b) => b.cosine - a.cosine).slice(0, limit);
        expect(near.map(({ cosine }) => cosine.toFixed(5))).toEqual(
          wanted.map(({ cosine }) => cosine.toFixed(5)),
        );
        expect(background.count).toBe(all.length);
        const mean = all.reduce((sum, { cosine }) => sum + cosine, 0) / Math.max(1, all.length);
        expect(background.mean).toBeCloseTo(mean, 5);
        expect(background.deviation).toBeGreaterThanOrEqual(0);
      },
    ),
  );
});
