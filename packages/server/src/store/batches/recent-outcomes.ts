/** The failure rate of a batch over a sliding window: the batch is paused when it is too high. */

import type { RecentOutcomes } from "../database/tables/batches.ts";

const WINDOW_SECONDS = 120;
/** Length of the buckets in which outcomes are counted. A row holds at most 13 buckets. */
const COUNTED_SECONDS = 10;
/** Fewer outcomes are not significant. */
const LEAST_OUTCOMES = 5;

export function addOutcomes(
  recent: RecentOutcomes,
  outcomes: readonly { readonly counts: "success" | "failure" | null }[],
  nowMs: number,
): RecentOutcomes {
  const nowSeconds = Math.floor(nowMs / 1000);
  const begin = nowSeconds - (nowSeconds % COUNTED_SECONDS);
  const present = recent.filter(([at]) => at > nowSeconds - WINDOW_SECONDS - COUNTED_SECONDS && at < begin);
  const [, total, failures] = recent.find(([at]) => at >= begin) ?? [begin, 0, 0];
  const counted = outcomes.filter(({ counts }) => counts !== null);
  const failed = counted.filter(({ counts }) => counts === "failure");
  if (total + counted.length === 0) return present;
  return [...present, [begin, total + counted.length, failures + failed.length]];
}

/** `rate` from 0 to 1. At least one failure is needed, also for a rate of 0. */
export function failsTooOften(recent: RecentOutcomes, rate: number): boolean {
  const { total, failures } = sumOf(recent);
  return total >= LEAST_OUTCOMES && failures > 0 && failures / total >= rate;
}

/** The pause reason that users read. */
export function failureSentence(recent: RecentOutcomes): string {
  const { total, failures } = sumOf(recent);
  return `${String(failures)} of ${String(total)} outcomes within 2 minutes were failures`;
}

function sumOf(recent: RecentOutcomes): { readonly total: number; readonly failures: number } {
  const total = recent.reduce((sum, [, outcomes]) => sum + outcomes, 0);
  const failures = recent.reduce((sum, [, , failed]) => sum + failed, 0);
  return { total, failures };
}
