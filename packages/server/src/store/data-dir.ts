import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { StoreStartError } from "./store-errors.ts";

/** Folder of the embedded database inside DATA_DIR. */
export function embeddedDatabaseDir(dataDir: string): string {
  return join(dataDir, "database");
}

/** Folder of the socket by which commands reach the embedded database of a running service. */
export function adminSocketDir(dataDir: string): string {
  return resolve(dataDir, "admin");
}

/** A file that is there from the first to the last step of a restore; what of it has its place is named inside. */
export const RESTORE_MARK = "restore.incomplete";

/**
 * A start would make a new database where the restored one is still missing.
 * @throws StoreStartError with a sentence that says what to do.
 */
export function refuseIncompleteRestore(dataDir: string): void {
  if (!existsSync(join(dataDir, RESTORE_MARK))) return;
  throw new StoreStartError(
    `A restore into ${resolve(dataDir)} is under way or was broken off: let it end, or give parley restore again.`,
  );
}
