import { expect, test } from "vitest";
import { ECHO_UNKNOWN } from "../../media/echo.ts";
import { DOUBTED_MAX, DoubtedWindows } from "./doubted-windows.ts";

test("windows that were not echo are told once, when the scores of all of them have come", () => {
  const windows = new DoubtedWindows();
  for (const index of [0, 1, 2]) windows.heard(index, ECHO_UNKNOWN, null);
  windows.heard(3, 0.9, [0.1, 0.9, 0.2]);
  expect([0, 1, 2].map((index) => windows.scored(index, 0.5 + index / 10))).toEqual([null, null, null]);
  expect(windows.scored(3, 0.8)).toEqual([
    { index: 0, score: 0.5 },
    { index: 2, score: 0.7 },
  ]);
  expect(windows.scored(4, 0.8)).toBeNull();
});

test("nothing is told where all was echo, and nothing of windows that nobody remembers", () => {
  const echo = new DoubtedWindows();
  echo.heard(0, ECHO_UNKNOWN, null);
  echo.scored(0, 0.9);
  echo.heard(1, 0.9, [0.9]);
  expect(echo.scored(1, 0.9)).toBeNull();
  const long = new DoubtedWindows();
  for (let index = 0; index < DOUBTED_MAX + 10; index += 1) {
    long.heard(index, ECHO_UNKNOWN, null);
    long.scored(index, 0.9);
  }
  const at = DOUBTED_MAX + 10;
  long.heard(
    at,
    0.9,
    Array.from({ length: DOUBTED_MAX }, () => 0),
  );
  expect(long.scored(at, 0.9)?.map(({ index }) => index)).toEqual(
    Array.from({ length: DOUBTED_MAX }, (_, n) => n + 10),
  );
});
