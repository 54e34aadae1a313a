/** Waits between attempts that fail one after the other. */

/** Beyond it the wait would be 12 days and more for a first wait of one second; numbers stay exact. */
const MOST_DOUBLINGS = 20;

export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** @param failuresBefore failures in a row before the one that is waited for now: each doubles the wait */
export function backoffMs({ firstMs, longestMs }: Backoff, failuresBefore: number): number {
  return Math.min(firstMs * 2 ** Math.min(failuresBefore, MOST_DOUBLINGS), longestMs);
}
