/** The name of this node, stored in DATA_DIR: after a restart it finds its own unfinished calls by it. */

import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

const NODE_ID_FILE = "node-id";

/** DATA_DIR must be locked by this process, so that no two create a name at once. */
export async function loadNodeId(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const path = join(dataDir, NODE_ID_FILE);
  const stored = await readFile(path, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  });
  const known = stored.trim();
  if (/^[0-9a-f-]{36}$/.test(known)) return known;
  const nodeId = randomUUID();
  const aside = `${path}.${nodeId}.tmp`;
  await writeFile(aside, `${nodeId}\n`, { flush: true });
  await rename(aside, path);
  return nodeId;
}
