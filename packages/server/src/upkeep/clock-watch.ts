/** Watches the difference between the clock of this machine and that of the database while the service runs. */

import type { Logger } from "pino";
import { clocksAgree, describeDifference, type ClockDifference } from "../store/database/clock-difference.ts";

export interface ClockWatch {
  /** Compares the clocks, at most once in the interval. False: nothing may be deleted because of its age. */
  agrees(): Promise<boolean>;
  /** What does not work because of the clock, by the latest comparison; null: they agreed. */
  degraded(): string | null;
}

/** Between two comparisons. Several sweeps of one minute share one. */
const INTERVAL_MS = 30_000;

const DRIFTED =
  "the clock of this machine differs from the clock of the database by more than five minutes: " +
  "this node deletes nothing by its age";

export interface ClockWatchDeps {
  readonly readClocks: () => Promise<ClockDifference>;
  readonly logger: Pick<Logger, "info" | "error">;
  /** Monotonic, in ms. */
  readonly elapsedMs?: () => number;
}

export function watchClock(deps: ClockWatchDeps): ClockWatch {
  const { readClocks, logger, elapsedMs = () => performance.now() } = deps;
  let comparing: { readonly atMs: number; readonly result: Promise<boolean> } | null = null;
  let isWrong = false;

  async function compare(): Promise<boolean> {
    const clocks = await readClocks();
    const agree = clocksAgree(clocks);
    if (!agree && !isWrong) {
      logger.error(
        { ...clocks },
        `${describeDifference(clocks)} Until then this node deletes nothing by its age.`,
      );
    }
    if (agree && isWrong) logger.info({ ...clocks }, "the clocks of machine and database agree again");
    isWrong = !agree;
    return agree;
  }

  return {
    degraded: () => (isWrong ? DRIFTED : null),
    agrees() {
      const nowMs = elapsedMs();
      if (comparing === null || nowMs - comparing.atMs >= INTERVAL_MS) {
        const current = { atMs: nowMs, result: compare() };
        comparing = current;
        // A failed comparison is made again by the next sweep.
        current.result.catch(() => {
          if (comparing === current) comparing = null;
        });
      }
      return comparing.result;
    },
  };
}
