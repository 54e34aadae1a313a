/**
 * The job that loads a source. It works for a while and leaves the rest to the next job, so that sources take turns. All
 * progress is in the database: after a crash another attempt goes on behind the last document that was stored.
 */

import {
  claimLoad,
  finishLoad,
  inLoad,
  listStalledLoads,
  noteQueued,
  releaseLoad,
  type Load,
  type LoadIds,
} from "../../store/corpora/loads.ts";
import { inTransaction, type Db } from "../../store/database/db.ts";
import { LoadLostError } from "../../store/database/store-errors.ts";
import type { JobDefinition, JobHandler } from "../definitions/job.ts";
import type { Jobs } from "../jobs.ts";
import { crawlSite } from "./crawl/crawl-site.ts";
import type { LoadDeps, Progress } from "./load-deps.ts";
import { loadUploads } from "./load-uploads.ts";
import { readSourceIds } from "./source-ids.ts";

export const loadSourceJob: JobDefinition<LoadIds> = {
  name: "load-source",
  read: readSourceIds,
  // Each reads one document at a time. Pages are requested with a delay, so most of them wait.
  atOnce: 4,
  ofAccount: { atOnce: 1, idOf: ({ accountId }) => accountId },
  // A portion, and the slowest page and document that began at its end.
  limitSeconds: 240,
  // Upkeep queues the job again where they were not enough.
  retries: { limit: 10, delaySeconds: 1, maxDelaySeconds: 60 },
};

/** After this time the job leaves the rest to the next one. */
const PORTION_MS = 30_000;
/** Until the next attempt to meet the node that has a file. */
const ELSEWHERE_WAIT_MS = 3_000;

export interface LoadSourceDeps extends LoadDeps {
  readonly jobs: Pick<Jobs, "send" | "wake">;
  /** Aborted when the service stops: the rest is left to the next process. */
  readonly stopping: AbortSignal;
}

/** Queues the job in the transaction that makes it necessary. Wake the queue after it. */
export async function queueLoad(
  tx: Db,
  jobs: Pick<Jobs, "send">,
  { accountId, sourceId }: LoadIds,
  startAfterMs?: number,
): Promise<void> {
  const later = startAfterMs === undefined ? {} : { startAfterMs };
  await jobs.send(tx, loadSourceJob, { accountId, sourceId }, later);
}

/** Queues the loads that no job has. Returns how many. */
export async function queueStalledLoads(db: Db, jobs: Pick<Jobs, "send" | "wake">): Promise<number> {
  const stalled = await listStalledLoads(db);
  let queued = 0;
  for (const ids of stalled) {
    const isQueued = await inTransaction(db, async (tx) => {
      if (!(await noteQueued(tx, ids))) return false;
      await queueLoad(tx, jobs, ids);
      return true;
    });
    if (isQueued) queued += 1;
  }
  jobs.wake(loadSourceJob, queued);
  return queued;
}

export function loadSource(deps: LoadSourceDeps): JobHandler<LoadIds> {
  const { db, nowMs, stopping } = deps;
  return async ({ jobId, data, signal }) => {
    const load = await claimLoad(db, data, jobId);
    if (load === null) return;
    const limits = { untilMs: nowMs() + PORTION_MS, signal: AbortSignal.any([signal, stopping]) };
    try {
      const work = load.kind === "crawl" ? crawlSite : loadUploads;
      await leave(deps, load, await work(deps, load, limits));
    } catch (error) {
      // Changed, deleted, or taken over: whoever did that has queued what follows.
      if (error instanceof LoadLostError) return;
      // Later, so that this process does not begin it again while it stops.
      if (stopping.aborted) return leave(deps, load, "elsewhere");
      // Without the database the claim ends by itself.
      await releaseLoad(db, load).catch(() => undefined);
      throw error;
    }
  };
}

async function leave(deps: LoadSourceDeps, load: Load, progress: Progress): Promise<void> {
  const { db, jobs, nowMs, log } = deps;
  if (progress === "done") {
    await inLoad(db, load, (tx) => finishLoad(tx, load));
    log.info({ sourceId: load.sourceId, corpusId: load.corpusId }, "a source of a corpus is loaded");
    return;
  }
  await inTransaction(db, async (tx) => {
    await releaseLoad(tx, load);
    await queueLoad(tx, jobs, load, progress === "elsewhere" ? nowMs() + ELSEWHERE_WAIT_MS : undefined);
  });
  jobs.wake(loadSourceJob);
}
