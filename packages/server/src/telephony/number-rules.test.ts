import { expect, test } from "vitest";
import { numberProblem } from "./number-rules.ts";

test.each([
  ["+4930123456", []],
  ["sip:ann@example.com", []],
  ["+4930123456", ["+49"]],
  ["+49 (30) 123-456", ["+41", "+4930"]],
  ["tel:+4930123456", ["+49"]],
  ["sip:+4930123456@trunk.example:5060;transport=tcp", ["+49"]],
])("%s may be dialled with the prefixes %j", (to, prefixes) => {
  expect(numberProblem(to, prefixes)).toBeNull();
});

test.each([
  ["+19005550100", ["+49", "+41"], /none of the prefixes that the account allows: \+49, \+41$/],
  ["004930123456", ["+49"], /E\.164/],
  ["sip:ann@example.com", ["+49"], /E\.164/],
  ["sip:+4930;x=+49@example.com", ["+49"], /E\.164/],
  ["sip:+19005550100@trunk.example", ["+49"], /none of the prefixes/],
  ["+4930123456<+19005550100", ["+49"], /E\.164/],
  ["+49", ["+493"], /none of the prefixes/],
])("%s may not be dialled with the prefixes %j", (to, prefixes, problem) => {
  expect(numberProblem(to, prefixes)).toMatch(problem);
});

test("a number that the model has chosen needs a list of prefixes", () => {
  expect(numberProblem("+4930123456", [], "model")).toMatch(/only where the account allows some prefixes/);
  expect(numberProblem("+4930123456", ["+49"], "model")).toBeNull();
  expect(numberProblem("+19005550100", ["+49"], "model")).toMatch(/none of the prefixes/);
  expect(numberProblem("sip:+4930123456@anybody.example", ["+49"], "model")).toMatch(/E\.164/);
});
