import { describe, expect, it } from "vitest";
import { leastWindowMs, windowProblems } from "./window.ts";

describe("the least window", () => {
  it.each([
    [1, [{ maxCalls: 1, windowSeconds: 10 }], 0],
    [2, [{ maxCalls: 1, windowSeconds: 10 }], 10_000],
    [5, [{ maxCalls: 5, windowSeconds: 10 }], 0],
    [6, [{ maxCalls: 5, windowSeconds: 10 }], 10_000],
    [11, [{ maxCalls: 5, windowSeconds: 10 }], 20_000],
    [100, [], 0],
    [
      100,
      [
        { maxCalls: 2, windowSeconds: 1 },
        { maxCalls: 10, windowSeconds: 60 },
      ],
      540_000,
    ],
  ])("of %d calls under %j is %d ms", (calls, rules, leastMs) => {
    expect(leastWindowMs(calls, rules)).toBe(leastMs);
  });
});

describe("a window", () => {
  const nowMs = Date.parse("2030-01-01T12:00:00.000Z");
  const rules = [{ maxCalls: 1, windowSeconds: 60 }];
  const at = (time: string): string => `2030-01-01T${time}.000Z`;
  const problemOf = (windowStart: string | null, windowEnd: string | null): string | undefined => {
    const found = windowProblems({ windowStart, windowEnd }, { calls: 11, rules, nowMs });
    expect(found.every(({ field }) => field === "windowEnd")).toBe(true);
    return found[0]?.message;
  };
  const tooShort = "leaves too short a window: 11 calls at the allowed rate need at least 600s";

  it.each([
    [null, null, undefined],
    [at("09:00:00"), null, undefined],
    [null, at("12:10:00"), undefined],
    [null, at("12:09:59"), tooShort],
    [at("13:00:00"), at("13:10:00"), undefined],
    [at("13:00:00"), at("13:09:59"), tooShort],
    // In a window that is open already, only the remaining time counts.
    [at("09:00:00"), at("12:09:59"), tooShort],
    [at("13:00:00"), at("13:00:00"), "must be after windowStart"],
    [at("13:00:00"), at("12:30:00"), "must be after windowStart"],
    [null, at("12:00:00"), "must not be in the past"],
    [at("09:00:00"), at("11:00:00"), "must not be in the past"],
  ])("from %s to %s", (start, end, problem) => {
    expect(problemOf(start, end)).toBe(problem);
  });

  it("without rules may be as short as it likes", () => {
    const window = { windowStart: null, windowEnd: at("12:00:01") };
    expect(windowProblems(window, { calls: 100_000, rules: [], nowMs })).toEqual([]);
  });
});
