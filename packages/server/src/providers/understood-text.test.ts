import { expect, it } from "vitest";
import { understoodText } from "./understood-text.ts";

it.each([
  "",
  " \n\t",
  ".",
  "…",
  "?! - ",
  "。",
  "[BLANK_AUDIO]",
  " [ Silence ] ",
  "(silence)",
  "(speaking in foreign language).",
  "*coughs*",
  "♪ la la la ♪",
  "♪♪",
  "[Music] (applause)",
  "\u0000",
])("hears no words in %j", (transcript) => {
  expect(understoodText(transcript)).toBe("");
});

it.each([
  ["Yes.", "Yes."],
  ["  a \n table\r\n for four ", "a table for four"],
  ["7", "7"],
  ["はい。", "はい。"],
  ["[BLANK_AUDIO] Hello [noise] there.", "Hello there."],
  ["(555) 123", "(555) 123"],
  ["(laughs) no", "(laughs) no"],
  ["two * three", "two * three"],
  ["a\u0000b", "a b"],
  ["[unclosed bracket", "[unclosed bracket"],
])("takes the words of %j", (transcript, text) => {
  expect(understoodText(transcript)).toBe(text);
});

it.each(["[", "(", "*", "♪", "[a", "(a"])("takes no long time for many of %j", (piece) => {
  // As much as one answer may hold; a pattern that backtracks over this would not come to an end.
  const words = piece.repeat(100_000);
  expect(understoodText(`${words} end`)).toMatch(/end$/);
});
