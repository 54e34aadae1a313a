/** What a node does from time to time besides its calls: it counts them, settles and deletes what is due, and tidies up. */

import type { Logger } from "pino";
import { sweepByAge } from "./age-limits.ts";
import { openFileRemoval, type FileRemoval, type FileRemovalDeps } from "./file-removal.ts";
import { repeat, type Loop } from "./repeat.ts";
import type { AgeLimits } from "./store/age-limits.ts";
import { sweepHiddenBatches } from "./store/batches.ts";
import { foldSamples, SAMPLE_INTERVAL_MS, sampleConcurrency, sampleTimeMs } from "./store/concurrency.ts";
import type { Db } from "./store/db.ts";
import { deleteCall, DELETED_AT_ONCE, listCallsToDelete } from "./store/deleted-calls.ts";
import { settleOverdueCalls, type Metering } from "./store/metering.ts";
import { eraseLogOfDeletedWebhook, sweepDeliveries } from "./store/webhook-deliveries.ts";

export interface Upkeep {
  /** Files of a deleted call. Never rejects. */
  removeFiles(callId: string): Promise<void>;
  /** Begins; the first sweep is a second later. */
  start(): void;
  /** Waits for what is under way. Idempotent. */
  close(): Promise<void>;
}

export interface UpkeepDeps extends FileRemovalDeps {
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  readonly metering: Metering;
  readonly ageLimits: AgeLimits;
  /** Webhooks may have something to be told. */
  readonly deliver: () => void;
}

/** From the start to the first sweep: whoever waits for ready is served first. */
const FIRST_SWEEP_MS = 1_000;
/** Deleted calls' files of a crash, and calls that delete themselves, wait this long at most. */
const SWEEP_INTERVAL_MS = 60_000;
/** Of a thousand scheduled calls each: twenty of the largest batches. What is left waits for the next sweep. */
const BATCH_PORTIONS_AT_ONCE = 2_000;
/** Of a hundred calls that delete themselves each. What is left waits for the next sweep. */
const DELETION_PORTIONS_AT_ONCE = 50;
/** Of a thousand deliveries each: of 16,000 in a second as many go as came. What is left waits for the next sweep. */
const DELIVERY_PORTIONS_AT_ONCE = 1_000;
/** Between looks for calls that should be final. */
const SETTLE_INTERVAL_MS = 10_000;
/** Samples are folded a week after they were taken; an hour more does not matter. */
const FOLD_INTERVAL_MS = 3_600_000;
/** A call is final within 60 s of its end, also where what it waited for was lost in a crash. */
const PENDING_LIMIT_MS = 50_000;

export function openUpkeep(deps: UpkeepDeps): Upkeep {
  const { db, nodeId, logger, metering, deliver, nowMs } = deps;
  const files = openFileRemoval(deps);
  const loops: Loop[] = [];
  const closing = new AbortController();
  const deleteOne = (call: DueCall, why: string): Promise<boolean> =>
    deleteCallWithFiles(deps, files, call, why);
  const deleteDue = (): Promise<void> =>
    deleteDueCalls(deps, (call) => deleteOne(call, "its retention policy"), closing.signal);
  const eraseByAge = (): Promise<void> =>
    sweepByAge({
      ...deps,
      deleteCall: (call) => deleteOne(call, "the limit of its age"),
      stopped: () => closing.signal.aborted,
    });
  const count = (): Promise<void> => sampleConcurrency(db, nodeId, nowMs());
  const settle = async (): Promise<void> => {
    if ((await settleOverdueCalls(db, metering, nowMs() - PENDING_LIMIT_MS)) > 0) deliver();
  };
  /** What is left after so many waits for the next sweep. */
  const inPortions =
    (erasePortion: (from: Db) => Promise<boolean>, most: number) => async (): Promise<void> => {
      for (let portions = 0; portions < most && !closing.signal.aborted; portions += 1) {
        if (!(await erasePortion(db))) break;
      }
    };
  const begin = (name: string, work: () => Promise<void>, nextMs: () => number, firstMs: number): void => {
    const failed = (error: unknown): void => {
      logger.error({ work: name, error: String(error) }, "upkeep failed and is tried again");
    };
    loops.push(repeat(work, nextMs, firstMs, failed));
  };
  return {
    removeFiles: (callId) => files.removeNow(callId),
    start() {
      const untilSample = (): number => sampleTimeMs(nowMs()) + SAMPLE_INTERVAL_MS - nowMs();
      begin("concurrency", count, untilSample, untilSample());
      begin("settling", settle, () => SETTLE_INTERVAL_MS, FIRST_SWEEP_MS);
      // Each by itself: a store that says nothing, and whatever fails again and again, must not hold up the others.
      const sweeps = {
        files: () => files.sweep(),
        deleteDue,
        eraseByAge,
        eraseBatches: inPortions(sweepHiddenBatches, BATCH_PORTIONS_AT_ONCE),
        eraseDeliveries: inPortions(sweepDeliveries, DELIVERY_PORTIONS_AT_ONCE),
        eraseLogs: inPortions(eraseLogOfDeletedWebhook, DELIVERY_PORTIONS_AT_ONCE),
      };
      for (const [name, sweep] of Object.entries(sweeps)) {
        begin(name, sweep, () => SWEEP_INTERVAL_MS, FIRST_SWEEP_MS);
      }
      begin(
        "samples",
        () => foldSamples(db, nowMs()),
        () => FOLD_INTERVAL_MS,
        FIRST_SWEEP_MS,
      );
    },
    async close() {
      closing.abort();
      await Promise.all([...loops.map((loop) => loop.stop()), files.close()]);
    },
  };
}

interface DueCall {
  readonly accountId: string;
  readonly callId: string;
}

/** Never rejects: one call that cannot be deleted does not keep the others. */
async function deleteCallWithFiles(
  { db, logger }: Pick<UpkeepDeps, "db" | "logger">,
  files: Pick<FileRemoval, "removeNow">,
  { accountId, callId }: DueCall,
  why: string,
): Promise<boolean> {
  try {
    if ((await deleteCall(db, accountId, callId)) !== "deleted") return false;
    logger.info({ callId }, `a call was deleted by ${why}`);
    await files.removeNow(callId);
    return true;
  } catch (error) {
    logger.error({ callId, error: String(error) }, `a call is not deleted yet by ${why}`);
    return false;
  }
}

/** Those that delete themselves; most were deleted by their own jobs before. */
async function deleteDueCalls(
  { db, nowMs }: UpkeepDeps,
  deleteOne: (call: DueCall) => Promise<boolean>,
  stopped: AbortSignal,
): Promise<void> {
  const left: string[] = [];
  for (let portions = 0; portions < DELETION_PORTIONS_AT_ONCE && !stopped.aborted; portions += 1) {
    const due = await listCallsToDelete(db, nowMs(), left);
    for (const call of due) if (!(await deleteOne(call))) left.push(call.callId);
    if (due.length < DELETED_AT_ONCE) break;
  }
}
