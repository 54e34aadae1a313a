import { expect, test } from "vitest";
import { concurrencyOf, DAY_MS, datesOf, periodOf, type Period, showsHours } from "./period.ts";

const NOW = Date.parse("2026-11-21T14:35:10Z");
const NONE = { from: "", to: "" };

function made(period: Period | string): Period {
  if (typeof period === "string") throw new Error(period);
  return period;
}

test("periods that end now begin with a whole day or hour", () => {
  expect(datesOf(made(periodOf({ name: "7d", ...NONE }, NOW)))).toEqual({
    fromDate: "2026-11-15T00:00:00.000Z",
  });
  expect(datesOf(made(periodOf({ name: "1d", ...NONE }, NOW)))).toEqual({
    fromDate: "2026-11-20T15:00:00.000Z",
  });
  expect(datesOf(made(periodOf({ name: "all", ...NONE }, NOW)))).toEqual({});
});

test("chosen days are whole, and may be open", () => {
  const chosen = (from: string, to: string) => periodOf({ name: "chosen", from, to }, NOW);
  expect(datesOf(made(chosen("2026-11-01", "2026-11-01")))).toEqual({
    fromDate: "2026-11-01T00:00:00.000Z",
    toDate: "2026-11-01T23:59:59.999Z",
  });
  expect(made(chosen("", ""))).toEqual({ fromMs: null, toMs: null });
  expect(chosen("2026-11-02", "2026-11-01")).toBe("The last day is before the first day.");
  expect(chosen("2026-11-22", "")).toBe("The first day is in the future.");
  expect(chosen("2026-13-01", "")).toBe("Enter both dates.");
});

test("hours are told apart for two weeks", () => {
  expect(showsHours({ fromMs: NOW - 14 * DAY_MS, toMs: null }, NOW)).toBe(true);
  expect(showsHours({ fromMs: NOW - 15 * DAY_MS, toMs: null }, NOW)).toBe(false);
  expect(showsHours({ fromMs: null, toMs: null }, NOW)).toBe(false);
});

test.each([
  [1, 0, "minute"],
  [2, 0, "5min"],
  [5.2, 0, "5min"],
  [6.5, 0, "hour"],
  [30, 0, "hour"],
  [90, 0, "day"],
  // Fine samples of ten days ago are gone.
  [10, 9, "hour"],
  [3_000, 0, "day"],
] as const)("from %d to %d days ago, concurrency is told by the %s", (from, to, bucket) => {
  const period = { fromMs: NOW - from * DAY_MS, toMs: to === 0 ? null : NOW - to * DAY_MS };
  const asked = concurrencyOf(period, NOW, NOW);
  expect(asked.bucket).toBe(bucket);
  const endMs = asked.end === undefined ? NOW : Date.parse(asked.end);
  expect(Math.ceil((endMs - Date.parse(asked.start)) / (asked.stepS * 1000)) + 1).toBeLessThanOrEqual(1_500);
});

test("all time begins with the first call", () => {
  const asked = concurrencyOf({ fromMs: null, toMs: null }, NOW - 3 * DAY_MS, NOW);
  expect(asked).toEqual({ bucket: "5min", stepS: 300, start: "2026-11-18T14:35:10.000Z" });
});
