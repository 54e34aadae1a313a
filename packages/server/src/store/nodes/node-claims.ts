/**
 * Which process runs as a node. A node has one process at a time: its boot, a random id of each start. A copied
 * DATA_DIR, or a second process, finds the boot of the first one and takes another node.
 */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { preparedStatement } from "../database/prepared-statements.ts";

/** One process that runs as a node. */
export interface NodeBoot {
  readonly nodeId: string;
  readonly bootId: string;
}

/** A boot without a heartbeat for this long, fifteen intervals, can be replaced without a proof that it has ended. */
export const BOOT_SILENT_AFTER_MS = 30_000;

/**
 * After a restart of the database server all locks are free for some seconds, until the processes have connected again.
 */
const LOCKS_COUNT_AFTER_MS = 60_000;

/** What is known of the process that ran as the node before. */
export interface Evidence {
  /** Boots that have ended, as the lock of DATA_DIR shows. */
  readonly endedBootIds: readonly string[];
  /** `exclusive`: no other process can use this database. `free`: no connected process has the lock of the node. */
  readonly lock: "exclusive" | "free" | "held";
}

const now = sql`clock_timestamp()`;

/** Takes the node for this boot, unless another one may still run as it. False: another one may. */
export async function claimNode(db: Db, { nodeId, bootId }: NodeBoot, evidence: Evidence): Promise<boolean> {
  const { endedBootIds, lock } = evidence;
  const silentBefore = sql`${now} - make_interval(secs => ${BOOT_SILENT_AFTER_MS / 1000})`;
  const locksCount = sql`pg_postmaster_start_time() < ${now} - make_interval(secs => ${LOCKS_COUNT_AFTER_MS / 1000})`;
  const isFree = lock === "exclusive" ? sql`true` : lock === "free" ? locksCount : sql`false`;
  const claimed = await sql`
    insert into nodes (id, seen_at, boot_id) values (${nodeId}, ${now}, ${bootId})
    on conflict (id) do update set seen_at = excluded.seen_at, boot_id = excluded.boot_id
    where nodes.boot_id is null or nodes.boot_id = any(${[...endedBootIds]}::text[])
      or nodes.seen_at < ${silentBefore} or ${isFree}
    returning id`.execute(db.query);
  return claimed.rows.length === 1;
}

/** Whether the process still runs as its node. */
export async function holdsNode(db: Db, { nodeId, bootId }: NodeBoot): Promise<boolean> {
  const read =
    await sql`${preparedStatement} select 1 from nodes where id = ${nodeId} and boot_id = ${bootId}`.execute(
      db.query,
    );
  return read.rows.length === 1;
}

/** Gives the node up, so that the next start takes it at once. */
export async function releaseNode(db: Db, { nodeId, bootId }: NodeBoot): Promise<void> {
  await sql`update nodes set boot_id = null where id = ${nodeId} and boot_id = ${bootId}`.execute(db.query);
}
