/** When a delivery that failed is tried again (D158). */

/** After the first attempt. */
export const MAX_RETRIES = 10;
/** Doubling from here: the last wait is 256 minutes, all together about eight and a half hours. */
const FIRST_WAIT_MS = 30_000;
/** To either side, so that what failed together does not come back together. */
const JITTER = 0.1;

/**
 * Until the next attempt; null: there is none.
 * @param failed attempts that have failed, this one included
 * @param random from 0 to 1
 */
export function retryWaitMs(failed: number, random: number): number | null {
  if (failed > MAX_RETRIES) return null;
  return Math.round(FIRST_WAIT_MS * 2 ** (failed - 1) * (1 - JITTER + 2 * JITTER * random));
}
