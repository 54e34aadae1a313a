/** Removes the files of deleted calls: right after the deletion, and what that or a crash left over later. */

import type { Logger } from "pino";
import type { Recordings } from "./ports/recordings.ts";
import { openClock } from "./runner/clock.ts";
import { within } from "./runner/within.ts";
import type { Db } from "./store/db.ts";
import {
  filesAreLeft,
  filesAreRemoved,
  getFilesToRemove,
  listFilesToRemove,
  type FilesToRemove,
} from "./store/files-to-remove.ts";

export interface FileRemoval {
  /**
   * Those of one call, when this node has them. What fails, or takes long, goes on or is tried again behind the back of
   * whoever waits. Never rejects.
   */
  removeNow(callId: string): Promise<void>;
  /** All that are due. Rejects when the database cannot be read. */
  sweep(): Promise<void>;
  /** Lets go of what is under way: it stays noted. Idempotent. */
  close(): Promise<void>;
}

export interface FileRemovalDeps {
  readonly db: Db;
  readonly nodeId: string;
  readonly recordings: Pick<Recordings, "remove" | "isShared">;
  readonly logger: Pick<Logger, "warn">;
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
  /** For tests. */
  readonly waitLimitMs?: number;
}

const FIRST_RETRY_MS = 60_000;
/** A disk that is out of order for days is asked once an hour and file. */
const LONGEST_RETRY_MS = 3_600_000;
/** Whoever deletes a call waits so long for its files: a store in order takes a hundredth of it. */
const WAIT_LIMIT_MS = 3_000;
/** After a failure the next deletions leave their files to a sweep, so that a store that says nothing holds up none of them. */
const LEFT_TO_SWEEPS_MS = 30_000;

export function openFileRemoval(deps: FileRemovalDeps): FileRemoval {
  const { db, nodeId, recordings, logger, nowMs, waitLimitMs = WAIT_LIMIT_MS } = deps;
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
      const waitMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures, 20), LONGEST_RETRY_MS);
      await filesAreLeft(db, callId, nowMs() + waitMs);
      return;
    }
    await filesAreRemoved(db, callId);
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
      for (const files of await listFilesToRemove(db, remover, nowMs())) {
        if (closing.signal.aborted) return;
        await remove(files);
      }
    },
    async close() {
      closing.abort(new Error("the service stops"));
      await Promise.all(underWay);
    },
  };
}
