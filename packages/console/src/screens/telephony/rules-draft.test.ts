import { expect, test } from "vitest";
import { draftOf, faultsIn, minutesOf, rulesOf } from "./rules-draft.ts";

const RULES = { allowedPrefixes: ["+49"], maxCallsPerDay: 5, maxMinutesPerDay: null };

test("rules become a draft and the same rules again", () => {
  expect(draftOf(RULES)).toEqual({ prefixes: ["+49"], maxCalls: "5", maxMinutes: "" });
  expect(rulesOf(draftOf(RULES))).toEqual(RULES);
});

test("prefixes get their plus sign, and lose separators", () => {
  const draft = { prefixes: ["49", "+49 (30)", "abc"], maxCalls: "", maxMinutes: "0" };
  expect(rulesOf(draft)).toEqual({
    allowedPrefixes: ["+49", "+4930", "abc"],
    maxCallsPerDay: null,
    maxMinutesPerDay: 0,
  });
});

test("limits are whole numbers or empty", () => {
  const fieldsOf = (maxCalls: string, maxMinutes: string) =>
    faultsIn({ prefixes: [], maxCalls, maxMinutes }).map(({ field }) => field);
  expect(fieldsOf("", "0")).toEqual([]);
  expect(fieldsOf("1.5", "-1")).toEqual(["maxCallsPerDay", "maxMinutesPerDay"]);
  expect(fieldsOf("1000001", "many")).toEqual(["maxCallsPerDay", "maxMinutesPerDay"]);
});

test("talked time is shown in minutes", () => {
  expect(["0s", "90s", "89.9s"].map(minutesOf)).toEqual([0, 1.5, 1.5]);
});
