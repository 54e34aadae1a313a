/** Removes the files of deleted calls: right after the deletion, and later what remains after a failure or crash. */

import type { Logger } from "pino";
import type { Recordings } from "../ports/recordings.ts";
import { openClock } from "../pacing/clock.ts";
import { within } from "../pacing/within.ts";
import { databaseTime, type SqlTime } from "../store/database/database-time.ts";
import type { Db } from "../store/database/db.ts";
import {
  noteRemovalFailure,
  markFilesRemoved,
  getFilesToRemove,
  listFilesToRemove,
  type FilesToRemove,
} from "../store/calls/files-to-remove.ts";
import { stateOfRecordings } from "../store/calls/shared-recordings.ts";
import { backoffMs, type Backoff } from "../pacing/backoff.ts";

export interface FileRemoval {
  /**
   * Removes those of one call, when this node has them. Slow removals continue, and failed ones are retried, after this
   * has resolved. Never rejects.
   */
  removeNow(callId: string): Promise<void>;
  /** Removes all that are due. Rejects when the database cannot be read. */
  sweep(): Promise<void>;
  /** Removes files on this disk whose calls were deleted and that are in no list. Rejects as the sweep does. */
  removeLeft(): Promise<void>;
  /** Stops running removals: they stay in the list. Idempotent. */
  close(): Promise<void>;
}

export interface FileRemovalDeps {
  readonly db: Db;
  readonly nodeId: string;
  readonly recordings: Pick<Recordings, "remove" | "isShared">;
  readonly logger: Pick<Logger, "warn">;
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
  /** For tests. Absent: the clock of the database. */
  readonly time?: () => SqlTime;
  /** The calls that have a recording on this disk. Absent: uploads look after them. */
  readonly listRecordings?: (() => Promise<readonly string[]>) | undefined;
  /** For tests. */
  readonly waitLimitMs?: number;
}

/** Backoff: a disk that is down for days gets one attempt per file and hour. */
const RETRIES: Backoff = { firstMs: 60_000, longestMs: 3_600_000 };
/** Files in one query of the database. */
const FILES_PER_QUESTION = 200;
/** A deletion waits this long for its files: a working store takes a hundredth of it. */
const WAIT_LIMIT_MS = 3_000;
/** After a failure the next deletions leave their files to a sweep, so that a hanging store delays none of them. */
const LEFT_TO_SWEEPS_MS = 30_000;

export function openFileRemoval(deps: FileRemovalDeps): FileRemoval {
  const {
    db,
    nodeId,
    recordings,
    logger,
    nowMs,
    waitLimitMs = WAIT_LIMIT_MS,
    time = () => databaseTime,
  } = deps;
  const remover = { nodeId, reachesShared: recordings.isShared };
  const clock = openClock();
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  let leftToSweepsUntilMs = Number.NEGATIVE_INFINITY;

  async function remove({ callId, failures }: FilesToRemove): Promise<void> {
    try {
      await recordings.remove(callId, closing.signal);
    } catch (error) {
      if (closing.signal.aborted) return;
      leftToSweepsUntilMs = nowMs() + LEFT_TO_SWEEPS_MS;
      logger.warn({ callId, error: String(error) }, "the files of a deleted call cannot be removed yet");
      await noteRemovalFailure(db, callId, backoffMs(RETRIES, failures), time());
      return;
    }
    await markFilesRemoved(db, callId);
  }

  /** Never rejects. */
  async function removeOf(callId: string): Promise<void> {
    try {
      const files = await getFilesToRemove(db, remover, callId);
      if (files !== null) await remove(files);
    } catch (error) {
      logger.warn({ callId, error: String(error) }, "the files of a deleted call are left to the next sweep");
    }
  }

  return {
    async removeNow(callId) {
      if (closing.signal.aborted || nowMs() < leftToSweepsUntilMs) return;
      const removal = removeOf(callId);
      underWay.add(removal);
      void removal.then(() => underWay.delete(removal));
      if ((await within(clock, removal, waitLimitMs)) === null) return;
      leftToSweepsUntilMs = nowMs() + LEFT_TO_SWEEPS_MS;
    },
    async sweep() {
      for (const files of await listFilesToRemove(db, remover, time())) {
        if (closing.signal.aborted) return;
        await remove(files);
      }
    },
    async removeLeft() {
      const callIds = (await deps.listRecordings?.()) ?? [];
      for (let from = 0; from < callIds.length && !closing.signal.aborted; from += FILES_PER_QUESTION) {
        const some = callIds.slice(from, from + FILES_PER_QUESTION);
        const states = await stateOfRecordings(db, nodeId, some);
        for (const [callId, state] of states) {
          if (state === "erased") await recordings.remove(callId, closing.signal);
        }
      }
    },
    async close() {
      closing.abort(new Error("the service is stopping"));
      await Promise.all(underWay);
    },
  };
}
