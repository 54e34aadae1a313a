import { expect, test } from "vitest";
import { minutesText } from "./usage-texts.ts";

test("minutes have a digit, and two below one minute, so that the steps of an axis differ", () => {
  // The sign between whole minutes and parts is the browser's.
  expect([0.05, 0.1, 0.15, 0.2].map(minutesText)).toEqual([
    expect.stringMatching(/^0.05$/),
    expect.stringMatching(/^0.1$/),
    expect.stringMatching(/^0.15$/),
    expect.stringMatching(/^0.2$/),
  ]);
  expect([0, 12.34].map(minutesText)).toEqual(["0", expect.stringMatching(/^12.3$/)]);
});
