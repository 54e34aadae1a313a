/** Calls of the last days, with the days that had none, which the service leaves out. */

import type { CallUsage } from "@parley/schema";

const DAY_MS = 86_400_000;
export const SHOWN_DAYS = 14;

export interface Day {
  /** Such as 2026-01-31, UTC. */
  readonly date: string;
  readonly calls: number;
  readonly failed: number;
}

/** The first day, for the query. Days are UTC, as the service counts them. */
export function firstDay(nowMs: number): string {
  return dateOf(nowMs - (SHOWN_DAYS - 1) * DAY_MS);
}

export function lastDays(daily: CallUsage["daily"], nowMs: number): readonly Day[] {
  const known = new Map(daily.map((day) => [day.date, day]));
  return Array.from({ length: SHOWN_DAYS }, (_, index) => {
    const date = dateOf(nowMs - (SHOWN_DAYS - 1 - index) * DAY_MS);
    const day = known.get(date);
    return { date, calls: day?.totalCount ?? 0, failed: day?.errorCount ?? 0 };
  });
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
