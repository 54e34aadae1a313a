/** Decides as which node this process runs. */

import type { Logger } from "pino";
import { claimNode, type Evidence, type NodeBoot } from "../store/nodes/node-claims.ts";
import type { NodeLock } from "../store/nodes/node-lock.ts";
import type { Boot } from "../store/opening/open-database.ts";
import type { Db } from "../store/database/db.ts";

export interface NodeIdentityDeps {
  readonly db: Db;
  readonly boot: Boot;
  /** Null: no other process can use this database, so nobody else runs as the node. */
  readonly lock: NodeLock | null;
  readonly newId: () => string;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Runs as the node that DATA_DIR names, unless another process may still do so: then as a new one. That is a copy of
 * DATA_DIR beside the original, or a restart that cannot prove the end of its predecessor. A new node serves at once; the
 * calls of the other one stay with it, or are ended as those of a lost node.
 */
export async function takeNode(deps: NodeIdentityDeps, storedId: string): Promise<NodeBoot> {
  const { db, boot, lock, newId, logger } = deps;
  const { bootId, endedBootIds } = boot;
  for (let nodeId = storedId; ; nodeId = newId()) {
    const state = await stateOf(lock, nodeId);
    if (await claimNode(db, { nodeId, bootId }, { endedBootIds, lock: state })) {
      if (nodeId !== storedId) {
        const fields = { nodeId, otherNodeId: storedId };
        logger.warn(
          fields,
          "another process may run as the node that DATA_DIR names: this one is a new node",
        );
      }
      return { nodeId, bootId };
    }
  }
}

async function stateOf(lock: NodeLock | null, nodeId: string): Promise<Evidence["lock"]> {
  if (lock === null) return "exclusive";
  return (await lock.take(nodeId)) ? "free" : "held";
}
