import { expect, test } from "vitest";
import { agentFigures, callFigures, firstCallMs, minutesOf } from "./figures.ts";

const NOW = Date.parse("2026-11-21T14:35:10Z");
const DAY = (date: string, totalCount: number) => ({
  date,
  totalCount,
  joinedCount: totalCount - 1,
  errorCount: 1,
  duration: "90s",
  billedMinutes: 1.6,
});
const USAGE = {
  allTime: { totalCount: 7, errorCount: 2, joinedCount: 5, duration: "180s", billedMinutes: 3.2 },
  daily: [DAY("2026-11-18", 3), DAY("2026-11-20", 4)],
  hourly: [
    { ...DAY("2026-11-18", 3), hour: 23 },
    { ...DAY("2026-11-20", 4), hour: 0 },
  ],
};

test("days without calls are filled in, up to today", () => {
  const { at, total, joined, errors, joinedMinutes } = callFigures(
    USAGE,
    false,
    { fromMs: null, toMs: null },
    NOW,
  );
  expect(at.map((seconds) => new Date(seconds * 1000).toISOString().slice(0, 10))).toEqual([
    "2026-11-18",
    "2026-11-19",
    "2026-11-20",
    "2026-11-21",
  ]);
  expect(total).toEqual([3, 0, 4, 0]);
  expect(joined).toEqual([2, 0, 3, 0]);
  expect(errors).toEqual([1, 0, 1, 0]);
  expect(joinedMinutes).toEqual([1.5, 0, 1.5, 0]);
});

test("hours are those of the chosen days", () => {
  const period = { fromMs: Date.parse("2026-11-18T22:00:00Z"), toMs: Date.parse("2026-11-20T01:00:00Z") };
  const { at, total, stepS } = callFigures(USAGE, true, period, NOW);
  expect(stepS).toBe(3_600);
  expect(at.length).toBe(28);
  expect(total[1]).toBe(3);
  expect(total[26]).toBe(4);
  expect(total.reduce((one, other) => one + other)).toBe(7);
});

test("without calls an open period has no days", () => {
  const nothing = { ...USAGE, daily: [], hourly: [] };
  expect(callFigures(nothing, false, { fromMs: null, toMs: null }, NOW).at).toEqual([]);
  expect(firstCallMs(nothing, NOW)).toBe(NOW - 86_400_000);
  expect(firstCallMs(USAGE, NOW)).toBe(Date.parse("2026-11-18T00:00:00Z"));
});

test("agents beyond the colours are one", () => {
  const usage = Array.from({ length: 7 }, (_, index) => ({
    agent: { agentId: `id-${String(index)}`, name: `Agent ${String(index)}` },
    usage: [{ date: "2026-11-20", calls: index + 1, billedMinutes: 0.5 }],
  }));
  const { at, shown, all } = agentFigures(usage, { fromMs: null, toMs: null }, NOW);
  expect(at.length).toBe(2);
  expect(shown.map(({ name, values }) => [name, values[0]])).toEqual([
    ["Agent 6", 7],
    ["Agent 5", 6],
    ["Agent 4", 5],
    ["Agent 3", 4],
    ["Agent 2", 3],
    ["2 others", 3],
  ]);
  expect(all.map(({ agentId }) => agentId)).toHaveLength(7);
});

test("lengths are seconds with an s", () => {
  expect(minutesOf("90s")).toBe(1.5);
  expect(minutesOf("0.384s")).toBeCloseTo(0.0064);
});
