/** Processes that hold a lease in tests, and those that do not any more. */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { announceNode, type Announcement } from "../nodes/announcements.ts";
import { claimNode, type NodeBoot } from "../nodes/node-claims.ts";

/** No test may depend on how fast the machine is: a lease lapses where a test says so. */
export const LONG_LEASE_MS = 3_600_000;

export const ANNOUNCEMENT: Announcement = {
  address: null,
  version: "1",
  isDraining: false,
  liveCalls: 0,
  leaseMs: LONG_LEASE_MS,
};

/** The process runs from now on, in place of one that ran as the node before. */
export async function startNode(db: Db, node: NodeBoot): Promise<void> {
  await claimNode(db, node, { endedBootIds: [], lock: "exclusive" });
  await announceNode(db, node, ANNOUNCEMENT);
}

/** The lease of the node has lapsed that long ago; negative: it lapses later. */
export async function lapse(db: Db, nodeId: string, agoMs = 0): Promise<void> {
  await sql`update nodes set lease_until = clock_timestamp() - ${agoMs}::float8 * interval '1 millisecond'
    where id = ${nodeId}`.execute(db.query);
}
