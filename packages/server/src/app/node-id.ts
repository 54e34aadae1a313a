/** The name of this node, stored in DATA_DIR: after a restart it finds its own unfinished calls by it. */

import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { isFirst } from "../config/workers/workers.ts";
import { takeNode } from "../nodes/node-identity.ts";
import type { NodeBoot } from "../store/nodes/node-claims.ts";
import { openNodeLock } from "../store/nodes/node-lock.ts";
import type { Store } from "../store/opening/open-store.ts";

const NODE_ID_FILE = "node-id";

export interface OpenedNode {
  readonly boot: NodeBoot;
  /** Releases the lock of the node. Idempotent. */
  close(): Promise<void>;
}

/** DATA_DIR must be locked by the store, so that no two processes create a name at once. */
export async function openNode(dataDir: string, store: Store, logger: Logger): Promise<OpenedNode> {
  const { db, kind, boot, openConnection } = store;
  if (boot === null) throw new Error("A node runs with its DATA_DIR locked.");
  const lock = kind === "embedded" ? null : openNodeLock(openConnection);
  try {
    const storedId = await loadNodeId(dataDir);
    const taken = await takeNode({ db, boot, lock, newId: randomUUID, logger }, storedId);
    if (taken.nodeId !== storedId) await saveNodeId(dataDir, taken.nodeId);
    return { boot: taken, close: async () => lock?.close() };
  } catch (error) {
    await lock?.close();
    throw error;
  }
}

async function loadNodeId(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const known = await readNodeId(dataDir);
  if (known !== null) return known;
  const nodeId = randomUUID();
  await saveNodeId(dataDir, nodeId);
  return nodeId;
}

/**
 * The name by which the database knows who has the uploaded documents. Workers share their folder, so that the first
 * one stands for all: each can load and remove what another has taken.
 */
export async function nodeOfFiles(
  { worker, dataDir }: Pick<Config, "worker" | "dataDir">,
  nodeId: string,
): Promise<string> {
  return isFirst(worker) ? nodeId : ((await readNodeId(dataDir)) ?? nodeId);
}

/** Null: the folder has no name yet. */
async function readNodeId(dataDir: string): Promise<string | null> {
  const stored = await readFile(join(dataDir, NODE_ID_FILE), "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  });
  const known = stored.trim();
  return /^[0-9a-f-]{36}$/.test(known) ? known : null;
}

async function saveNodeId(dataDir: string, nodeId: string): Promise<void> {
  const path = join(dataDir, NODE_ID_FILE);
  const aside = `${path}.${nodeId}.tmp`;
  await writeFile(aside, `${nodeId}\n`, { flush: true });
  await rename(aside, path);
}
