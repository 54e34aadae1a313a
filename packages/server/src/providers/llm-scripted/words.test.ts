import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  listInWords,
  numberInWords,
  ordinalInWords,
  readDigits,
  readNumber,
  readOrdinal,
  toWords,
} from "./words.ts";

describe("words", () => {
  it.each([
    ["Hello, THERE!", ["hello", "there"]],
    ["It’s seven o’clock, 7:30 p.m. or 8 PM", ["it's", "seven", "o'clock", "7:30", "pm", "or", "8", "pm"]],
    ["café 42nd x-ray", ["cafe", "42nd", "x", "ray"]],
    ["7pm", ["7", "pm"]],
    ["", []],
    ["你好 …", []],
  ])("of %j", (text, words) => {
    expect(toWords(text)).toEqual(words);
  });
});

describe("numbers", () => {
  it("are read back as they are written, whole", () => {
    fc.assert(
      fc.property(fc.nat(999_999), (value) => {
        const words = toWords(numberInWords(value));
        expect(readNumber(words, 0)).toEqual({ value, length: words.length });
      }),
    );
  });

  it.each([
    ["a hundred", 100],
    ["a thousand and one", 1_001],
    ["two thousand five hundred and seven", 2_507],
    ["oh", 0],
    ["42", 42],
    ["twenty twenty", 20],
    ["seven thirty", 7],
  ])("%s is %i", (text, value) => {
    expect(readNumber(toWords(text), 0)?.value).toBe(value);
  });

  it.each(["", "a", "a table", "hundred", "zeroth", "1234567"])("%j is none", (text) => {
    expect(readNumber(toWords(text), 0)).toBeNull();
  });

  it("said digit by digit are a row of digits, from two on", () => {
    expect(readDigits(toWords("five five oh 1 twenty"), 0)).toEqual([5, 5, 0, 1]);
    expect(readDigits(toWords("five"), 0)).toBeNull();
    expect(readDigits(toWords("twenty five"), 0)).toBeNull();
    expect(readDigits(toWords("five hundred"), 0)).toBeNull();
  });

  it("beyond a million, broken or negative stay figures", () => {
    expect([1_000_000, -1, 1.5].map(numberInWords)).toEqual(["1000000", "-1", "1.5"]);
  });
});

it("reads the days of a month as it writes them", () => {
  for (let day = 1; day <= 31; day += 1) {
    const words = toWords(ordinalInWords(day));
    expect(readOrdinal(words, 0)).toEqual({ value: day, length: words.length });
  }
  expect(readOrdinal(["3rd"], 0)?.value).toBe(3);
  for (const none of ["32nd", "0th", "thirty second", "three", ""])
    expect(readOrdinal(toWords(none), 0)).toBeNull();
});

it("lists", () => {
  expect([[], ["a"], ["a", "b"], ["a", "b", "c"]].map(listInWords)).toEqual([
    "",
    "a",
    "a and b",
    "a, b and c",
  ]);
});
