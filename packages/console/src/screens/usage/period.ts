/** The period of the figures, and the steps they can have. Days and hours are UTC, as the service counts. */

import type { ConcurrencyBucket } from "@parley/schema";

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const PERIODS = [
  { value: "1d", label: "Last 24 hours", days: 1 },
  { value: "7d", label: "Last 7 days", days: 7 },
  { value: "30d", label: "Last 30 days", days: 30 },
  { value: "90d", label: "Last 90 days", days: 90 },
  { value: "365d", label: "Last 365 days", days: 365 },
  { value: "all", label: "All time", days: null },
  { value: "chosen", label: "Custom", days: null },
] as const;
export type PeriodName = (typeof PERIODS)[number]["value"];
export const USUAL_PERIOD: PeriodName = "30d";

/** Both inclusive; null: from the first call, or until now. */
export interface Period {
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

export interface Chosen {
  readonly name: PeriodName;
  /** Days such as 2026-01-31, for `chosen`; empty: no limit. */
  readonly from: string;
  readonly to: string;
}

function dayStart(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

/** The period, or an error if the days are invalid. */
export function periodOf({ name, from, to }: Chosen, nowMs: number): Period | string {
  if (name === "all") return { fromMs: null, toMs: null };
  if (name === "1d") return { fromMs: Math.floor(nowMs / HOUR_MS) * HOUR_MS - 23 * HOUR_MS, toMs: null };
  if (name !== "chosen") {
    const days = PERIODS.find(({ value }) => value === name)?.days ?? 1;
    return { fromMs: dayStart(nowMs) - (days - 1) * DAY_MS, toMs: null };
  }
  const fromMs = from === "" ? null : Date.parse(`${from}T00:00:00Z`);
  const toMs = to === "" ? null : Date.parse(`${to}T00:00:00Z`) + DAY_MS - 1;
  if (Number.isNaN(fromMs) || Number.isNaN(toMs)) return "Enter both dates.";
  if (fromMs !== null && fromMs >= nowMs) return "The first day is in the future.";
  if (fromMs !== null && toMs !== null && toMs < fromMs) return "The last day is before the first day.";
  return { fromMs, toMs };
}

/** The query for the service. */
export function datesOf({ fromMs, toMs }: Period): { readonly fromDate?: string; readonly toDate?: string } {
  return {
    ...(fromMs === null ? {} : { fromDate: new Date(fromMs).toISOString() }),
    ...(toMs === null ? {} : { toDate: new Date(toMs).toISOString() }),
  };
}

/** No calls are older. */
const FIRST_DAY = "2020-01-01";

/** The query for figures of whole days. */
export function daysOf({ fromMs, toMs }: Period): { readonly fromDate: string; readonly toDate?: string } {
  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  return {
    fromDate: fromMs === null ? FIRST_DAY : dayOf(fromMs),
    ...(toMs === null ? {} : { toDate: dayOf(toMs) }),
  };
}

/** With more bars, each is thinner than a pixel or two. */
const MAX_HOUR_BARS = 24 * 14;

/** Whether a chart of this period can show hours. */
export function showsHours({ fromMs, toMs }: Period, nowMs: number): boolean {
  return fromMs !== null && ((toMs ?? nowMs) - fromMs) / HOUR_MS <= MAX_HOUR_BARS;
}

export interface ConcurrencyAsked {
  readonly bucket: ConcurrencyBucket;
  readonly stepS: number;
  readonly start: string;
  readonly end?: string;
}

/** The limit of the service, less one for the bucket that the start cuts. */
const MAX_BUCKETS = 1_499;
/** Finer buckets are stored for 7 days; the service needs the first bucket in full. */
const FINE_MS = 7 * DAY_MS - HOUR_MS;

const BUCKETS: readonly (readonly [ConcurrencyBucket, number])[] = [
  ["minute", 60],
  ["5min", 300],
  ["hour", 3_600],
  ["day", 86_400],
];

/** The finest buckets that cover the period within the limit of the service; days if none does. */
export function concurrencyOf(
  { fromMs, toMs }: Period,
  firstCallMs: number,
  nowMs: number,
): ConcurrencyAsked {
  const endMs = Math.min(toMs ?? nowMs, nowMs);
  const startMs = Math.max(fromMs ?? firstCallMs, endMs - MAX_BUCKETS * DAY_MS);
  const fits = BUCKETS.find(
    ([, stepS]) =>
      (endMs - startMs) / (stepS * 1000) <= MAX_BUCKETS && (stepS >= 3_600 || startMs >= nowMs - FINE_MS),
  );
  const [bucket, stepS] = fits ?? (["day", 86_400] as const);
  return {
    bucket,
    stepS,
    start: new Date(startMs).toISOString(),
    ...(toMs === null ? {} : { end: new Date(endMs).toISOString() }),
  };
}
