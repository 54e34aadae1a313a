/** Removes the files of deleted calls: right after the deletion, and what that or a crash left over later. */

import type { Logger } from "pino";
import type { Recordings } from "./ports/recordings.ts";
import type { Db } from "./store/db.ts";
import {
  filesAreLeft,
  filesAreRemoved,
  getFilesToRemove,
  listFilesToRemove,
  type FilesToRemove,
} from "./store/files-to-remove.ts";

export interface FileRemoval {
  /** Those of one call, when this node has them. What fails is tried again by a sweep. Never rejects. */
  removeNow(callId: string): Promise<void>;
  /** All that are due. Rejects when the database cannot be read. */
  sweep(): Promise<void>;
}

export interface FileRemovalDeps {
  readonly db: Db;
  readonly nodeId: string;
  readonly recordings: Pick<Recordings, "remove" | "isShared">;
  readonly logger: Pick<Logger, "warn">;
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
}

const FIRST_RETRY_MS = 60_000;
/** A disk that is out of order for days is asked once an hour and file. */
const LONGEST_RETRY_MS = 3_600_000;

export function openFileRemoval({ db, nodeId, recordings, logger, nowMs }: FileRemovalDeps): FileRemoval {
  const remover = { nodeId, reachesShared: recordings.isShared };
  async function remove({ callId, failures }: FilesToRemove): Promise<void> {
    try {
      await recordings.remove(callId);
    } catch (error) {
      logger.warn({ callId, error: String(error) }, "the files of a deleted call cannot be removed yet");
      const waitMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures, 20), LONGEST_RETRY_MS);
      await filesAreLeft(db, callId, nowMs() + waitMs);
      return;
    }
    await filesAreRemoved(db, callId);
  }
  return {
    async removeNow(callId) {
      try {
        const files = await getFilesToRemove(db, remover, callId);
        if (files !== null) await remove(files);
      } catch (error) {
        logger.warn(
          { callId, error: String(error) },
          "the files of a deleted call are left to the next sweep",
        );
      }
    },
    async sweep() {
      for (const files of await listFilesToRemove(db, remover, nowMs())) await remove(files);
    },
  };
}
