/** What is due for batches whether or not they make calls: windows that close, and claims whose maker is gone. */

import { sweepLapsedClaims } from "../../store/batch-claims.ts";
import { expireScheduledCalls } from "../../store/batch-outcomes.ts";
import type { Db } from "../../store/db.ts";

export interface Sweeps {
  start(): void;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

export interface SweepDeps {
  readonly db: Db;
  readonly metrics: { expired(count: number): void };
  readonly log: { readonly warn: (fields: object, message: string) => void };
}

/** Calls expire within 30 s of the end of their window (D168), and lapsed claims are settled within 5 s. */
const SWEEP_INTERVAL_MS = 5_000;
/** Of a thousand calls each: five of the largest batches. What is left waits for the next sweep. */
const MAX_PORTIONS = 500;

/** `settled`: calls have gone back, and may be claimed. */
export function openSweeps({ db, metrics, log }: SweepDeps, settled: () => void): Sweeps {
  const closing = new AbortController();
  const { signal } = closing;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  const expire = async (): Promise<void> => {
    for (let portions = 0; portions < MAX_PORTIONS && !signal.aborted; portions += 1) {
      const count = await expireScheduledCalls(db);
      if (count === 0) return;
      metrics.expired(count);
    }
  };
  const settle = async (): Promise<void> => {
    const lapsed = await sweepLapsedClaims(db);
    if (lapsed.givenBack + lapsed.unknown === 0) return;
    log.warn(lapsed, "scheduled calls were settled whose maker was cut off");
    settled();
  };
  const sweep = async (): Promise<void> => {
    try {
      await expire();
      if (!signal.aborted) await settle();
    } catch (error) {
      log.warn({ error: String(error) }, "batches were not swept; tried again");
    }
  };
  const begin = (): void => {
    if (signal.aborted) return;
    running ??= sweep().finally(() => {
      running = null;
    });
  };
  return {
    start() {
      timer = setInterval(begin, SWEEP_INTERVAL_MS).unref();
      begin();
    },
    async close() {
      closing.abort();
      if (timer !== null) clearInterval(timer);
      await running;
    },
  };
}
