/**
 * Creation times of records. Lists sort by them, so two records that are created one after the other must not share
 * one.
 */

/** How far creation times may run ahead of the clock. In a longer burst records may share a time. */
const MOST_AHEAD_MS = 100;

let lastMs = 0;

/** The clock, or one millisecond after the previous creation time of this process if that is later. */
export function creationTime(nowMs = Date.now()): Date {
  const isAhead = lastMs >= nowMs && lastMs < nowMs + MOST_AHEAD_MS;
  lastMs = isAhead ? lastMs + 1 : nowMs;
  return new Date(lastMs);
}
