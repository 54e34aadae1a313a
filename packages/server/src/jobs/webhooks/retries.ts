/** Backoff of failed deliveries (D158). */

/** Retries after the first attempt. */
export const MAX_RETRIES = 10;
/** The wait doubles from here: the last is 256 minutes, all together about eight and a half hours. */
const FIRST_WAIT_MS = 30_000;
/** Jitter to either side, so that simultaneous failures are not retried at the same time. */
const JITTER = 0.1;

/**
 * The wait until the next attempt; null: there is none.
 * @param failed attempts that have failed, this one included
 * @param random from 0 to 1
 */
export function retryWaitMs(failed: number, random: number): number | null {
  if (failed > MAX_RETRIES) return null;
  return Math.round(FIRST_WAIT_MS * 2 ** (failed - 1) * (1 - JITTER + 2 * JITTER * random));
}
