/** Sweeps all batches: expires calls whose window has closed, and settles claims whose process is gone. */

import { sweepExpiredClaims } from "../../store/batches/batch-claims.ts";
import { inPortions } from "../../pacing/portions.ts";
import { repeat, type Loop } from "../../pacing/repeat.ts";
import { expireScheduledCalls } from "../../store/batches/batch-outcomes.ts";
import type { Db } from "../../store/database/db.ts";

export interface Sweeps {
  start(): void;
  /** Waits for running sweeps. */
  close(): Promise<void>;
}

export interface SweepDeps {
  readonly db: Db;
  readonly metrics: { expired(count: number): void };
  readonly log: { readonly warn: (fields: object, message: string) => void };
}

/** Calls expire within 30 s of the end of their window (D168), and expired claims are settled within 5 s. */
const SWEEP_INTERVAL_MS = 5_000;
/** Portions of a thousand calls each: five of the largest batches. The rest waits for the next sweep. */
const MAX_PORTIONS = 500;

/** `settled`: calls were given back, and may be claimed. */
export function openSweeps({ db, metrics, log }: SweepDeps, settled: () => void): Sweeps {
  const closing = new AbortController();
  const { signal } = closing;
  let loop: Loop | null = null;
  const expire = (): Promise<void> =>
    inPortions({ most: MAX_PORTIONS, signal }, async () => {
      const count = await expireScheduledCalls(db);
      if (count > 0) metrics.expired(count);
      return count > 0;
    });
  const settle = async (): Promise<void> => {
    const lapsed = await sweepExpiredClaims(db);
    if (lapsed.givenBack + lapsed.unknown === 0) return;
    log.warn(lapsed, "claims of scheduled calls had expired and were settled");
    settled();
  };
  const sweep = async (): Promise<void> => {
    await expire();
    if (!signal.aborted) await settle();
  };
  const failed = (error: unknown): void => {
    log.warn({ error: String(error) }, "the sweep of batches failed and is retried");
  };
  return {
    start() {
      loop ??= repeat(sweep, () => SWEEP_INTERVAL_MS, 0, failed);
    },
    async close() {
      closing.abort();
      await loop?.stop();
    },
  };
}
