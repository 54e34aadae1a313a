/**
 * Handles calls that no process runs: their ends, their join timeouts and what other processes have taken. In a loop of
 * its own, so that it never delays the renewal of the lease.
 */

import type { Logger } from "pino";
import { endSomeOrphans } from "../lifecycle/adoption/end-orphans.ts";
import { inPortions } from "../pacing/portions.ts";
import { repeat, type Loop } from "../pacing/repeat.ts";
import { deleteOldNodes, NODE_LOST_AFTER_MS } from "../store/nodes/nodes.ts";
import { markOrphans, type OrphanLimits } from "../store/snapshots/orphans.ts";
import { endMissedJoins } from "./missed-joins.ts";
import type { OwnLease } from "./own-lease.ts";
import { strayCallCheck, type StrayCallDeps } from "./stray-calls.ts";

export interface CallSweeps {
  start(): void;
  /** Before a shutdown, which leaves waiting calls to the next start: from now on calls that do not run here stay open. */
  leaveCalls(): void;
  /** Waits for running work. Idempotent. */
  close(): Promise<void>;
}

export interface CallSweepDeps extends StrayCallDeps {
  readonly lease: Pick<OwnLease, "steadyMs" | "trustsOthers">;
  /** Stops calls here that other processes own. */
  readonly letGo: () => Promise<void>;
  /** How long a call whose process is gone waits for its client. */
  readonly resumeTimeoutMs: number;
  /** Of the prices of engines; null: there are none. */
  readonly currency: string | null;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
}

export interface SweepTimes {
  readonly sweepMs: number;
  /** A joined call that cannot be continued ends this long after the last sign of life of its process. */
  readonly lostMs: number;
  /** Between two checks for calls that are open as calls of this node and that it does not run, and for old nodes. */
  readonly straysMs: number;
}

/** A call that others have claimed is kept here for two seconds at most. */
const TIMES: SweepTimes = { sweepMs: 2_000, lostMs: NODE_LOST_AFTER_MS, straysMs: 60_000 };

/** Portions of 50 calls. The rest waits for the next sweep. */
const PORTIONS_AT_ONCE = 20;

export function openCallSweeps(deps: CallSweepDeps, times: SweepTimes = TIMES): CallSweeps {
  const { logger, letGo, lease } = deps;
  const closing = new AbortController();
  const checkStrays = strayCallCheck(deps);
  let straysAtMs = performance.now();
  let leavesCalls = false;
  let loop: Loop | null = null;

  async function sweep(): Promise<void> {
    await letGo();
    // Joins of the others may not be stored yet after an outage.
    if (lease.trustsOthers()) await endMissedJoins(deps, closing.signal);
    await sweepOrphans(deps, times, closing.signal);
    if (performance.now() - straysAtMs < times.straysMs || leavesCalls) return;
    straysAtMs = performance.now();
    await checkStrays();
    for (const gone of await deleteOldNodes(deps.db)) {
      logger.warn(gone, "a node has been gone for 30 days: its recordings are given up");
    }
  }

  return {
    start() {
      loop ??= repeat(
        sweep,
        () => times.sweepMs,
        times.sweepMs,
        (error) =>
          logger.error(
            { error: String(error) },
            "the check for calls without a process failed and is retried",
          ),
      );
    },
    leaveCalls: () => void (leavesCalls = true),
    async close() {
      closing.abort();
      await loop?.stop();
    },
  };
}

/** Calls whose process is gone wait for their clients, and end when none comes back. */
async function sweepOrphans(deps: CallSweepDeps, { lostMs }: SweepTimes, signal: AbortSignal): Promise<void> {
  const { db, node, lease, resumeTimeoutMs, logger } = deps;
  const judge = (): OrphanLimits => {
    const steadyMs = lease.steadyMs();
    return {
      boot: node,
      trustsLeases: lease.trustsOthers(),
      // All others may be back after an outage, and clients as well: they have as long as they ever have.
      resumableMs: steadyMs >= resumeTimeoutMs ? resumeTimeoutMs : null,
      lostMs: steadyMs >= lostMs ? lostMs : null,
    };
  };
  const orphaned = await markOrphans(db, judge());
  if (orphaned > 0)
    logger.warn({ calls: orphaned }, "calls of a process that is gone wait for their clients");
  let ended = 0;
  await inPortions({ most: PORTIONS_AT_ONCE, signal }, async () => {
    const some = await endSomeOrphans(deps, judge());
    ended += some;
    return some > 0;
  });
  if (ended > 0)
    logger.warn({ calls: ended }, "calls were ended whose process was gone and whose clients stayed away");
}
