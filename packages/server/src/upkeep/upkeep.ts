/** The periodic work of a node: it samples call counts, settles and deletes due records, indexes texts, cleans up. */

import type { Logger } from "pino";
import { sweepByAge } from "./age-limits.ts";
import type { ClockWatch } from "./clock-watch.ts";
import { openFileRemoval, type FileRemoval, type FileRemovalDeps } from "./file-removal.ts";
import { repeat, type Loop } from "../pacing/repeat.ts";
import type { AgeLimits } from "../store/calls/age-limits.ts";
import { sweepAuditLog } from "../store/accounts/audit-log.ts";
import { sweepHiddenBatches } from "../store/batches/batches.ts";
import {
  foldSamples,
  SAMPLE_INTERVAL_MS,
  sampleConcurrency,
  sampleTimeMs,
} from "../store/accounts/concurrency.ts";
import { giveUpFilesOfGoneNodes, isWholePortion } from "../store/calls/files-to-remove.ts";
import { indexDueTexts } from "../store/call-texts/index-texts.ts";
import type { Db } from "../store/database/db.ts";
import { deleteCall, DELETED_AT_ONCE, listCallsToDelete } from "../store/calls/deleted-calls.ts";
import { settleOverdueCalls, type Metering } from "../store/accounts/metering.ts";
import { eraseLogOfDeletedWebhook, sweepDeliveries } from "../store/webhooks/webhook-deliveries.ts";
import { inPortions } from "../pacing/portions.ts";

export interface Upkeep {
  /** Removes the files of a deleted call. Never rejects. */
  removeFiles(callId: string): Promise<void>;
  /** Starts the sweeps; the first one is a second later. */
  start(): void;
  /** Waits for running work. Idempotent. */
  close(): Promise<void>;
}

export interface UpkeepDeps extends FileRemovalDeps {
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  readonly metering: Metering;
  readonly ageLimits: AgeLimits;
  readonly auditRetentionDays: number;
  /** There may be new webhook deliveries. */
  readonly deliver: () => void;
  readonly clock: Pick<ClockWatch, "agrees">;
}

/** From the start to the first sweep: requests that wait for readiness are served first. */
const FIRST_SWEEP_MS = 1_000;
/** Files of deleted calls after a crash, and calls that delete themselves, wait this long at most. */
const SWEEP_INTERVAL_MS = 60_000;
/** Portions of a thousand scheduled calls: twenty of the largest batches. The rest waits for the next sweep. */
const BATCH_PORTIONS_AT_ONCE = 2_000;
/** Portions of a hundred calls that delete themselves. The rest waits for the next sweep. */
const DELETION_PORTIONS_AT_ONCE = 50;
/** Portions of a thousand deliveries: at 16,000 a second as many go as arrive. The rest waits for the next sweep. */
const DELIVERY_PORTIONS_AT_ONCE = 1_000;
/** Portions of a thousand entries of the audit log. The rest waits for the next sweep. */
const AUDIT_PORTIONS_AT_ONCE = 100;
/** Portions of 500 files of nodes that are gone. The rest waits for the next sweep. */
const FILE_PORTIONS_AT_ONCE = 20;
/** Files of deleted calls that are in no queue any more: of a node that was gone for long, or that has a new name. */
const LEFT_FILES_INTERVAL_MS = 24 * 3_600_000;
/** Interval of the sweep for calls that should be final. */
const SETTLE_INTERVAL_MS = 10_000;
/** A call is found by the words of its transcript this long after its end, if no others wait. */
const TEXTS_INTERVAL_MS = 2_000;
/** Portions of twenty calls: about a second. Calls of before an update take hours in this way, in the background. */
const TEXT_PORTIONS_AT_ONCE = 25;
/** Samples are folded a week after they were taken; an hour more does not matter. */
const FOLD_INTERVAL_MS = 3_600_000;
/** A call is final within 60 s of its end, also where a crash lost what it waited for. */
const PENDING_LIMIT_MS = 50_000;

export function openUpkeep(deps: UpkeepDeps): Upkeep {
  const { db, nodeId, logger, metering, deliver, nowMs, clock } = deps;
  const files = openFileRemoval(deps);
  const loops: Loop[] = [];
  const closing = new AbortController();
  const deleteOne = (call: DueCall, why: string): Promise<boolean> =>
    deleteCallWithFiles(deps, files, call, why);
  const eraseByAge = (): Promise<void> =>
    sweepByAge({
      ...deps,
      deleteCall: (call) => deleteOne(call, "the limit of its age"),
      signal: closing.signal,
    });
  const giveUpFiles = (): Promise<void> =>
    inPortions({ most: FILE_PORTIONS_AT_ONCE, signal: closing.signal }, async () => {
      const givenUp = await giveUpFilesOfGoneNodes(db);
      if (givenUp > 0)
        logger.warn({ files: givenUp }, "files of nodes that are gone for 30 days are given up");
      return isWholePortion(givenUp);
    });
  const count = (): Promise<void> => sampleConcurrency(db, nodeId, nowMs());
  const settle = async (): Promise<void> => {
    if ((await settleOverdueCalls(db, metering, PENDING_LIMIT_MS)) > 0) deliver();
  };
  const deleteDue = async (): Promise<void> => {
    // Only settled calls are due; otherwise a call could wait for the next sweep. Its own loop reports its failures.
    await settle().catch(() => undefined);
    await deleteDueCalls(deps, (call) => deleteOne(call, "its retention policy"), closing.signal);
  };
  const portions = (portionOf: (from: Db) => Promise<boolean>, most: number) => (): Promise<void> =>
    inPortions({ most, signal: closing.signal }, () => portionOf(db));
  const unlessClockIsWrong = (sweep: () => Promise<void>) => async (): Promise<void> => {
    if (await clock.agrees()) await sweep();
  };
  const begin = (name: string, work: () => Promise<void>, nextMs: () => number, firstMs: number): void => {
    const failed = (error: unknown): void => {
      logger.error({ work: name, error: String(error) }, "upkeep failed and is retried");
    };
    loops.push(repeat(work, nextMs, firstMs, failed));
  };
  return {
    removeFiles: (callId) => files.removeNow(callId),
    start() {
      const untilSample = (): number => sampleTimeMs(nowMs()) + SAMPLE_INTERVAL_MS - nowMs();
      begin("concurrency", count, untilSample, untilSample());
      begin("settling", settle, () => SETTLE_INTERVAL_MS, FIRST_SWEEP_MS);
      begin("texts", portions(indexDueTexts, TEXT_PORTIONS_AT_ONCE), () => TEXTS_INTERVAL_MS, FIRST_SWEEP_MS);
      // Each one separately: a hanging store, or work that always fails, must not delay the others.
      const sweeps = {
        files: () => files.sweep(),
        deleteDue,
        eraseByAge,
        giveUpFiles,
        eraseAudit: portions((from) => sweepAuditLog(from, deps.auditRetentionDays), AUDIT_PORTIONS_AT_ONCE),
        eraseBatches: portions(sweepHiddenBatches, BATCH_PORTIONS_AT_ONCE),
        eraseDeliveries: portions(sweepDeliveries, DELIVERY_PORTIONS_AT_ONCE),
        eraseLogs: portions(eraseLogOfDeletedWebhook, DELIVERY_PORTIONS_AT_ONCE),
      };
      for (const [name, sweep] of Object.entries(sweeps)) {
        begin(name, unlessClockIsWrong(sweep), () => SWEEP_INTERVAL_MS, FIRST_SWEEP_MS);
      }
      const fold = unlessClockIsWrong(() => foldSamples(db));
      const removeLeft = unlessClockIsWrong(() => files.removeLeft());
      begin("left files", removeLeft, () => LEFT_FILES_INTERVAL_MS, FIRST_SWEEP_MS);
      begin("samples", fold, () => FOLD_INTERVAL_MS, FIRST_SWEEP_MS);
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

/** Never rejects: one call that cannot be deleted does not stop the others. */
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

/** Calls that delete themselves; their own jobs have deleted most of them before. */
async function deleteDueCalls(
  { db }: UpkeepDeps,
  deleteOne: (call: DueCall) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const left: string[] = [];
  await inPortions({ most: DELETION_PORTIONS_AT_ONCE, signal }, async () => {
    const due = await listCallsToDelete(db, left);
    for (const call of due) if (!(await deleteOne(call))) left.push(call.callId);
    return due.length >= DELETED_AT_ONCE;
  });
}
