import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Framer } from "./framer.ts";
import { concat, pieces, ramp } from "./testing/signals.ts";

test("windows are the stream in order, whatever the pieces were", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 3_000 }),
      fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 600 }),
      (length, lengths, size) => {
        const samples = ramp(length);
        const framer = new Framer(size);
        const windows: Int16Array[] = [];
        for (const piece of pieces(samples, lengths)) {
          framer.push(piece, (window) => windows.push(window.slice()));
        }
        expect(windows.every((window) => window.length === size)).toBe(true);
        expect(windows.length).toBe(Math.floor(length / size));
        expect(concat(windows)).toEqual(samples.subarray(0, windows.length * size));
        expect(framer.pending).toBe(length % size);
      },
    ),
  );
});

test("a window must have a length", () => {
  expect(() => new Framer(0)).toThrow(RangeError);
});
