import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { StoreStartError } from "./store-errors.ts";

/** Folder of the embedded database inside DATA_DIR. */
export function embeddedDatabaseDir(dataDir: string): string {
  return join(dataDir, "database");
}

/** Folder of the socket through which commands reach the embedded database of a running service. */
export function adminSocketDir(dataDir: string): string {
  return resolve(dataDir, "admin");
}

/** Marker file that exists during a restore; it lists what was already moved into place. */
export const RESTORE_MARK = "restore.incomplete";

/**
 * Refuses a start during a restore: it would create a new database where the restored one is still missing.
 * @throws StoreStartError with a sentence that says what to do.
 */
export function refuseIncompleteRestore(dataDir: string): void {
  if (!existsSync(join(dataDir, RESTORE_MARK))) return;
  throw new StoreStartError(
    `A restore into ${resolve(dataDir)} is under way or was interrupted: wait until it ends, or run parley restore again.`,
  );
}
