import * as fc from "fast-check";
import { expect, it } from "vitest";
import { textPieces } from "./text-pieces.ts";

it("keeps a short text whole", () => {
  expect(textPieces("We open at nine.", 16)).toEqual(["We open at nine."]);
  expect(textPieces("", 16)).toEqual([""]);
});

it("cuts after a space where one is near, and inside a word otherwise", () => {
  expect(textPieces("one two three four", 9)).toEqual(["one two ", "three ", "four"]);
  expect(textPieces("aaaaaaaaaaaa", 5)).toEqual(["aaaaa", "aaaaa", "aa"]);
});

it("gives the text again, in pieces within the limit, without half a character", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.integer({ min: 2, max: 40 }),
      (text, maxChars) => {
        const whole = text.toWellFormed();
        const pieces = textPieces(whole, maxChars);
        expect(pieces.join("")).toBe(whole);
        for (const piece of pieces) {
          expect(piece.length).toBeLessThanOrEqual(maxChars);
          expect(piece.isWellFormed()).toBe(true);
        }
      },
    ),
  );
});
