import * as fc from "fast-check";
import { expect, it } from "vitest";
import { cutIntoPieces, MAX_PIECE_CHARS } from "./pieces.ts";

it.each([
  ["Hello there.", ["Hello there."]],
  ["Yes. I can do that for you. At seven?", ["Yes.", "I can do that for you. At seven?"]],
  [
    "Your table is booked, and we look forward to seeing you there at seven on Friday.",
    ["Your table is booked,", "and we look forward to seeing you there at seven on Friday."],
  ],
  ["It costs 3.5 euros.", ["It costs 3.5 euros."]],
  ["<b>4 & 5</b>", ["b 4 and 5 /b"]],
  ["[[hello]] 🎉", ["hello"]],
  ["\u0000one\u0007two\uD800", ["one two"]],
  ["你好。再见。", ["你好。", "再见。"]],
  ["...", []],
  ["—", []],
  ["", []],
])("cuts %j", (text, pieces) => {
  expect(cutIntoPieces(text)).toEqual(pieces);
});

it("loses no letter, keeps the limit and always ends", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 400 }),
    fc.string({
      unit: fc.constantFrom("a", "é", "😀", " ", ".", ",", "<", "&", "。", "\n", "7"),
      maxLength: 900,
    }),
  );
  fc.assert(
    fc.property(anyText, (text) => {
      const pieces = cutIntoPieces(text);
      for (const piece of pieces) {
        expect(piece.length).toBeLessThanOrEqual(MAX_PIECE_CHARS);
        expect(piece).toMatch(/[\p{L}\p{N}]/u);
        expect(piece).not.toMatch(/[\p{Cc}\p{Cs}<>[\]]/u);
      }
      const letters = (of: string): string => of.replaceAll(/&/g, "").replaceAll(/[^\p{L}\p{N}]/gu, "");
      const kept = letters(pieces.join("")).replaceAll("and", "");
      expect(kept).toBe(letters(text.toWellFormed()).replaceAll("and", ""));
    }),
  );
});
