import { describe, expect, it } from "vitest";
import { hearDay, hearTime, timeInWords } from "./clock.ts";
import { toWords } from "./words.ts";

describe("a day", () => {
  it.each([
    ["today please", "today"],
    ["this evening", "tonight"],
    ["tomorrow night", "tomorrow"],
    ["the day after tomorrow", "the day after tomorrow"],
    ["on friday evening", "on Friday"],
    ["next Sunday", "next Sunday"],
    ["the twelfth of march", "on the twelfth of March"],
    ["march the 3rd", "on the third of March"],
    ["december twenty first", "on the twenty-first of December"],
    ["may the second", "on the second of May"],
    ["july 4", "on the fourth of July"],
  ])("%s", (text, day) => {
    expect(hearDay(toWords(text))?.value).toBe(day);
  });

  it.each(["", "may i come", "the second", "march on", "march 40", "wait a second"])("%j is none", (text) => {
    expect(hearDay(toWords(text))).toBeNull();
  });
});

describe("a time", () => {
  it.each([
    ["at seven", 19, 0],
    ["around seven thirty", 19, 30],
    ["seven forty five", 19, 45],
    ["nine o'clock", 21, 0],
    ["half past eight", 20, 30],
    ["a quarter to one", 12, 45],
    ["quarter past twelve", 12, 15],
    ["7:05 p.m.", 19, 5],
    ["19:30", 19, 30],
    ["at eleven in the morning", 11, 0],
    ["eight a m", 8, 0],
    ["twelve am", 0, 0],
    ["six in the evening", 18, 0],
    ["noon", 12, 0],
    ["midnight", 0, 0],
  ])("%s", (text, hour, minute) => {
    expect(hearTime(toWords(text), false)?.value).toEqual({ hour, minute });
  });

  it("is a bare hour only where one is expected", () => {
    expect(hearTime(["seven"], false)).toBeNull();
    expect(hearTime(["seven"], true)?.value).toEqual({ hour: 19, minute: 0 });
  });

  it.each(["", "at 25", "7:99", "seven people", "half a cake"])("%j is none", (text) => {
    expect(hearTime(toWords(text), false)).toBeNull();
  });

  it("is said so that it can be understood again", () => {
    for (let hour = 0; hour < 24; hour += 1)
      for (const minute of [0, 15, 30, 59])
        expect(hearTime(toWords(timeInWords({ hour, minute })), false)?.value).toEqual({ hour, minute });
    expect(timeInWords({ hour: 19, minute: 5 })).toBe("at seven oh five in the evening");
  });
});
