import { expect, test } from "vitest";
import { firstDay, lastDays } from "./daily-calls.ts";

const NOW_MS = Date.parse("2026-03-02T23:59:59Z");

test("days without calls are filled in, up to today", () => {
  const given = { joinedCount: 1, duration: "60s", billedMinutes: 1 };
  const days = lastDays([{ date: "2026-02-28", totalCount: 3, errorCount: 1, ...given }], NOW_MS);
  expect(days).toHaveLength(14);
  expect(days.slice(-3)).toEqual([
    { date: "2026-02-28", calls: 3, failed: 1 },
    { date: "2026-03-01", calls: 0, failed: 0 },
    { date: "2026-03-02", calls: 0, failed: 0 },
  ]);
  expect(days[0]?.date).toBe(firstDay(NOW_MS));
});
