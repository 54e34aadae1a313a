/** Files with keys that the service makes, readable by its user only. */

import { open, rm } from "node:fs/promises";

const OWNER_ONLY = 0o600;

/**
 * Never replaces a file: it may have the key of another service.
 * @throws what the file system throws; `EEXIST` where there is a file
 */
export async function writeNewFile(path: string, text: string): Promise<void> {
  let made = false;
  try {
    const file = await open(path, "wx", OWNER_ONLY);
    made = true;
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (made) await rm(path, { force: true });
    throw error;
  }
}

/** Whether a file was not written because there is one already. */
export function isPresent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EEXIST";
}
