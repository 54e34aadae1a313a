import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutIntoPieces, MAX_PIECE_CHARS } from "./pieces.ts";

const texts = (text: string): string[] => cutIntoPieces(text).map((piece) => piece.text);

describe("text made safe for espeak-ng", () => {
  it.each([
    ["Hello <b>there</b>.", "Hello b there /b ."],
    ["Is 3 < 4 or 5 > 6?", "Is 3 less than 4 or 5 greater than 6?"],
    ["fish &amp; chips", "fish and amp; chips"],
    ["AT&T", "AT and T"],
    ["say [[hEl@U]] now", "say hEl@U now"],
    ["**Bold** _and_ `code` #1, # heading", "Bold and code number 1, heading"],
    ["2*3 is 6", "2 times 3 is 6"],
    ["a\u0000b\u0007c\r\nd\te", "a b c d e"],
    ["co\u00adoperate\u200d \u202eyes", "cooperate yes"],
    ["Well done 🎉👍🏽!", "Well done !"],
    ["one\uD800two", "one two"],
    ["你好。", "你好。"],
  ])("%j", (text, expected) => {
    expect(texts(text)).toEqual([expected]);
  });

  it.each(["", " \n\t ", "...", "—", "🎉", "<>*", "\u0000"])("has nothing to say for %j", (text) => {
    expect(texts(text)).toEqual([]);
  });
});

describe("text cut into pieces", () => {
  it("keeps short sentences together and long texts in whole sentences", () => {
    const sentence = "This sentence has exactly forty letters. ";
    expect(texts(sentence.repeat(3).trim())).toHaveLength(1);
    const pieces = texts(sentence.repeat(20).trim());
    expect(pieces.length).toBeGreaterThan(3);
    for (const piece of pieces) expect(piece.trimEnd()).toMatch(/letters\.$/);
    expect(pieces.join("")).toBe(sentence.repeat(20).trim());
  });

  it("cuts an endless sentence at a comma, else at a space, else anywhere", () => {
    const comma = `${"word ".repeat(30)}end, ${"word ".repeat(40)}`;
    expect(texts(comma)[0]).toMatch(/end, $/);
    expect(texts("word ".repeat(100))[0]).toMatch(/word $/);
    expect(texts("x".repeat(MAX_PIECE_CHARS * 2 + 1)).map((piece) => piece.length)).toEqual([240, 240, 1]);
  });

  it("does not take a decimal point for the end of a sentence", () => {
    const filler = "a ".repeat(116).trim();
    expect(texts(`${filler}. That is 3.5 metres and more of it.`)[1]).toBe(
      "That is 3.5 metres and more of it.",
    );
  });

  it("says where a sentence ends", () => {
    expect(cutIntoPieces("Hello.").map((piece) => piece.endsSentence)).toEqual([true]);
    expect(cutIntoPieces('He said "yes!"').map((piece) => piece.endsSentence)).toEqual([true]);
    expect(cutIntoPieces("Hello, ").map((piece) => piece.endsSentence)).toEqual([false]);
  });

  it("knows for every character where it came from", () => {
    const text = "😀 Grüße & <i>mehr</i>.";
    const [piece] = cutIntoPieces(text);
    const chars = Array.from(piece?.text ?? "");
    expect(piece?.offsets).toHaveLength(chars.length);
    const at = chars.join("").indexOf("mehr");
    expect(text.slice(piece?.offsets[at])).toBe("mehr</i>.");
  });

  it("loses no letter, keeps every limit and never lets markup through", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.string({
        unit: fc.constantFrom("a", "é", "😀", " ", ".", ",", "<", "[", "&", "。", "\n", "7"),
        maxLength: 700,
      }),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const pieces = cutIntoPieces(text);
        let before = -1;
        for (const piece of pieces) {
          expect(piece.text).not.toMatch(/[<>&[\]\p{Cc}\p{Cs}]/u);
          expect(piece.text).toMatch(/[\p{L}\p{N}]/u);
          expect(piece.offsets.length).toBeLessThanOrEqual(MAX_PIECE_CHARS);
          expect(piece.offsets).toHaveLength(Array.from(piece.text).length);
          for (const offset of piece.offsets) {
            expect(offset).toBeGreaterThanOrEqual(before);
            expect(offset).toBeLessThan(text.length);
            before = offset;
          }
        }
        const letters = (of: string): string => of.replaceAll(/[^\p{L}\p{Nd}]/gu, "");
        const read = pieces.map((piece) =>
          Array.from(piece.text)
            .filter((char, index) => text.startsWith(char, piece.offsets[index]))
            .join(""),
        );
        expect(letters(read.join(""))).toBe(letters(text.toWellFormed()));
      }),
    );
  });
});
