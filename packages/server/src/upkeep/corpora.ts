/** Sweeps of corpora: unused uploads, chunks and files of deleted documents, loads and indexes that no job has. */

import { setImmediate } from "node:timers/promises";
import type { Logger } from "pino";
import type { CorpusFiles } from "../ports/corpora/corpus-files.ts";
import { backoffMs, type Backoff } from "../pacing/backoff.ts";
import { inPortions } from "../pacing/portions.ts";
import { repeat } from "../pacing/repeat.ts";
import { databaseTime, type SqlTime } from "../store/database/database-time.ts";
import type { Db } from "../store/database/db.ts";
import { removeDeletedChunks } from "../store/corpora/chunks-to-remove.ts";
import {
  listCorpusFilesToRemove,
  markCorpusFileRemoved,
  noteCorpusFileFailure,
} from "../store/corpora/files-to-remove.ts";
import { sweepUnusedUploads } from "../store/corpora/uploads.ts";

export interface CorpusUpkeep {
  start(): void;
  /** Waits for running work. Idempotent. */
  close(): Promise<void>;
}

export interface CorpusUpkeepDeps {
  readonly db: Db;
  readonly nodeId: string;
  readonly files: Pick<CorpusFiles, "isShared" | "remove">;
  /** Queues loads that no job has; returns how many. */
  readonly queueStalledLoads: () => Promise<number>;
  /** Queues corpora that lack vectors, and that no job has; returns how many. */
  readonly queueMissingVectors: () => Promise<number>;
  readonly logger: Pick<Logger, "warn" | "error">;
  /** For tests. Absent: the clock of the database. */
  readonly time?: () => SqlTime;
}

const FIRST_SWEEP_MS = 1_000;
/** Files of deleted documents are gone within this time. */
const FILES_INTERVAL_MS = 10_000;
const SWEEP_INTERVAL_MS = 60_000;
/** The job of a corpus is given up after some 25 minutes without an embedding server. */
const VECTORS_INTERVAL_MS = 600_000;
/** Chunks of deleted documents begin to go within this time. */
const CHUNKS_INTERVAL_MS = 5_000;
/** About a minute of portions. The rest waits for the next sweep. */
const CHUNK_PORTIONS_AT_ONCE = 2_000;
/** Portions of 500 uploads that nobody has used. The rest waits for the next sweep. */
const UPLOAD_PORTIONS_AT_ONCE = 100;
/** Backoff: a disk that is down for days gets one attempt per file and hour. */
const RETRIES: Backoff = { firstMs: 60_000, longestMs: 3_600_000 };

interface Work {
  readonly work: () => Promise<void>;
  readonly everyMs: number;
  readonly firstMs?: number;
}

export function openCorpusUpkeep(deps: CorpusUpkeepDeps): CorpusUpkeep {
  const { db, logger } = deps;
  const closing = new AbortController();
  const works = {
    "corpus files": { work: () => removeCorpusFiles(deps, closing.signal), everyMs: FILES_INTERVAL_MS },
    "chunks of deleted documents": {
      work: () =>
        inPortions({ most: CHUNK_PORTIONS_AT_ONCE, signal: closing.signal }, async () => {
          // Between two portions the event loop turns, so that calls get their time on the main thread as well.
          await setImmediate();
          return removeDeletedChunks(db);
        }),
      everyMs: CHUNKS_INTERVAL_MS,
    },
    "missing vectors": {
      work: async () => {
        const queued = await deps.queueMissingVectors();
        if (queued > 0)
          logger.warn({ corpora: queued }, "corpora without all of their vectors are queued again");
      },
      everyMs: VECTORS_INTERVAL_MS,
      firstMs: VECTORS_INTERVAL_MS,
    },
    "unused uploads": {
      work: () =>
        inPortions({ most: UPLOAD_PORTIONS_AT_ONCE, signal: closing.signal }, () => sweepUnusedUploads(db)),
      everyMs: SWEEP_INTERVAL_MS,
    },
    "stalled loads": {
      work: async () => {
        const queued = await deps.queueStalledLoads();
        if (queued > 0) logger.warn({ sources: queued }, "loads of sources without a job are queued again");
      },
      everyMs: SWEEP_INTERVAL_MS,
    },
  };
  let loops: ReturnType<typeof repeat>[] = [];
  return {
    start() {
      loops = Object.entries<Work>(works).map(([name, { work, everyMs, firstMs = FIRST_SWEEP_MS }]) =>
        repeat(
          work,
          () => everyMs,
          firstMs,
          (error) => logger.error({ work: name, error: String(error) }, "upkeep failed and is retried"),
        ),
      );
    },
    async close() {
      closing.abort(new Error("the service is stopping"));
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/** Removes the files of deleted documents that are due. A file that cannot be removed stays in the queue. */
export async function removeCorpusFiles(
  {
    db,
    nodeId,
    files,
    logger,
    time = () => databaseTime,
  }: Omit<CorpusUpkeepDeps, "queueStalledLoads" | "queueMissingVectors">,
  signal: AbortSignal,
): Promise<void> {
  const remover = { nodeId, reachesShared: files.isShared };
  for (const { documentId, failures } of await listCorpusFilesToRemove(db, remover, time())) {
    if (signal.aborted) return;
    try {
      await files.remove(documentId, signal);
      await markCorpusFileRemoved(db, documentId);
    } catch (error) {
      if (signal.aborted) return;
      logger.warn(
        { documentId, error: String(error) },
        "the file of a deleted document cannot be removed yet",
      );
      await noteCorpusFileFailure(db, documentId, backoffMs(RETRIES, failures), time());
    }
  }
}
