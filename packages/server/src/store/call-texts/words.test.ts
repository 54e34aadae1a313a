import * as fc from "fast-check";
import { expect, test } from "vitest";
import { textQuery } from "./text-entries.ts";
import { wantedWords, wordsOf, WORDS_PER_CALL } from "./words.ts";

const all = (text: string): string[] => [...wordsOf(text)];

test("words are runs of letters and digits, in any case and width", () => {
  expect(all("Don't CALL 555-0100, Straße, don't!")).toEqual(["don", "t", "call", "555", "0100", "straße"]);
  expect(all("Ｆｕｌｌ ÄPFEL")).toEqual(["full", "äpfel"]);
  expect(all("A\u030Apple")).toEqual(["åpple"]);
  expect(all(" … ' & | ! : \\ * ")).toEqual([]);
  expect(all("x".repeat(1_000))).toEqual(["x".repeat(40)]);
});

test("scripts without spaces are found by pairs of characters", () => {
  expect(all("予約abc")).toEqual(["予", "約", "予約", "abc"]);
  expect(wantedWords("予約").map(({ word }) => word)).toEqual(["予約"]);
  expect(wantedWords("約")).toEqual([{ word: "約", isBeginning: false }]);
  expect(wantedWords("ラーメン").map(({ word }) => word)).toEqual(["ラー", "ーメ", "メン"]);
});

test("from three letters on a searched word is the beginning of a word", () => {
  expect(wantedWords("Re refund")).toEqual([
    { word: "re", isBeginning: false },
    { word: "refund", isBeginning: true },
  ]);
  const facts = { agentIds: ["A", "B"], endReason: "hangup" } as const;
  expect(textQuery("go on now", facts)).toBe(
    "'#.go' & '#.on' & '#.now':* & ('#.@aa' | '#.@ab') & '#.@ehangup'",
  );
  expect(textQuery("go", { agentIds: [] })).toBeNull();
  expect(textQuery("?!", {})).toBeNull();
});

test("what is found in a text finds the text, and nothing needs an escape", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      const words = wordsOf(text);
      for (const { word } of wantedWords(text)) expect(words.has(word)).toBe(true);
      for (const word of words) expect(word).toMatch(/^[\p{L}\p{M}\p{N}]+$/u);
    }),
  );
});

test("a call has a limited number of words", () => {
  const many = Array.from({ length: WORDS_PER_CALL + 10 }, (_, index) => `w${String(index)}`).join(" ");
  expect(wordsOf(many).size).toBe(WORDS_PER_CALL);
});
