/** How the calls of a batch went lately: what it is paused by when too many fail (D173). */

/** `[seconds since 1970, outcomes, failures]`, newest last. */
export type RecentOutcomes = readonly (readonly [number, number, number])[];

const WINDOW_SECONDS = 120;
/** Outcomes of such a time are counted together: a row keeps 13 of them at most, however quick the batch is. */
const COUNTED_SECONDS = 10;
/** Fewer tell nothing. */
const LEAST_OUTCOMES = 5;

export function addOutcomes(
  recent: RecentOutcomes,
  outcomes: readonly { readonly counts: "success" | "failure" | null }[],
  nowMs: number,
): RecentOutcomes {
  const nowSeconds = Math.floor(nowMs / 1000);
  const begin = nowSeconds - (nowSeconds % COUNTED_SECONDS);
  const kept = recent.filter(([at]) => at > nowSeconds - WINDOW_SECONDS - COUNTED_SECONDS && at < begin);
  const [, total, failures] = recent.find(([at]) => at >= begin) ?? [begin, 0, 0];
  const counted = outcomes.filter(({ counts }) => counts !== null);
  const failed = counted.filter(({ counts }) => counts === "failure");
  if (total + counted.length === 0) return kept;
  return [...kept, [begin, total + counted.length, failures + failed.length]];
}

/** `rate` from 0 to 1; one failure at least is needed, also for a rate of 0. */
export function failsTooOften(recent: RecentOutcomes, rate: number): boolean {
  const { total, failures } = sumOf(recent);
  return total >= LEAST_OUTCOMES && failures > 0 && failures / total >= rate;
}

/** For people, once it fails too often. */
export function failureSentence(recent: RecentOutcomes): string {
  const { total, failures } = sumOf(recent);
  return `${String(failures)} of ${String(total)} outcomes within 2 minutes were failures`;
}

function sumOf(recent: RecentOutcomes): { readonly total: number; readonly failures: number } {
  const total = recent.reduce((sum, [, outcomes]) => sum + outcomes, 0);
  const failures = recent.reduce((sum, [, , failed]) => sum + failed, 0);
  return { total, failures };
}
