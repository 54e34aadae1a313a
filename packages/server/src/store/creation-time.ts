/** When a record is made. Lists order records by it, so two that are made one after the other must not share it. */

/** Far below what anybody notices; more than that many records a millisecond apart may share a moment. */
const MOST_AHEAD_MS = 100;

let lastMs = 0;

/** The clock, but later than every moment that this process was given before, by a millisecond where need be. */
export function creationTime(nowMs = Date.now()): Date {
  const isAhead = lastMs >= nowMs && lastMs < nowMs + MOST_AHEAD_MS;
  lastMs = isAhead ? lastMs + 1 : nowMs;
  return new Date(lastMs);
}
