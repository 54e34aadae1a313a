import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
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

/**
 * Creates DATA_DIR where it does not exist, and checks that files can be created in it.
 * @throws StoreStartError with a sentence that names DATA_DIR.
 */
export function makeDataDir(dataDir: string): void {
  try {
    makeFolders(resolve(dataDir));
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreStartError(
      `DATA_DIR (${dataDir}) cannot be used: ${reason}. Set DATA_DIR to a folder that this user may write to.`,
      { cause: error },
    );
  }
}

/** One folder at a time: the recursive mkdir of Node does not return for folders below /proc. */
function makeFolders(path: string): void {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) throw new Error(`${path} is not a folder`);
    return;
  }
  makeFolders(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
