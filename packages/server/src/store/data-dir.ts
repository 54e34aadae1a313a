import { join } from "node:path";

/** Folder of the embedded database inside DATA_DIR. */
export function embeddedDatabaseDir(dataDir: string): string {
  return join(dataDir, "database");
}
