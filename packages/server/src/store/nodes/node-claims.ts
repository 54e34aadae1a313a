/**
 * Which process runs as a node. A node has one process at a time: its boot, a random id of each start. A copied
 * DATA_DIR, or a second process, finds the boot of the first one and takes another node.
 */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { laterBy } from "../database/database-time.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import type { NodeBoot } from "../database/running-nodes.ts";
import { LEASE_MS } from "./announcements.ts";

export type { NodeBoot };

/** A boot whose lease lapsed this long ago can be replaced without a proof that it has ended. */
export const BOOT_SILENT_AFTER_MS = 24_000;

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

/**
 * Takes the node for this boot, unless another one may still run as it. False: another one may. The joined calls of the
 * boot before are orphans, since its last sign of life. The lease begins with the first announcement.
 */
export async function claimNode(db: Db, { nodeId, bootId }: NodeBoot, evidence: Evidence): Promise<boolean> {
  const { endedBootIds, lock } = evidence;
  const silentBefore = laterBy(now, -BOOT_SILENT_AFTER_MS);
  const locksCount = sql`pg_postmaster_start_time() < ${laterBy(now, -LOCKS_COUNT_AFTER_MS)}`;
  const isFree = lock === "exclusive" ? sql`true` : lock === "free" ? locksCount : sql`false`;
  const claimed = await sql`
    with before as (select boot_id, lease_until from nodes where id = ${nodeId}),
    claimed as (
      insert into nodes (id, lease_until, boot_id) values (${nodeId}, ${now}, ${bootId})
      on conflict (id) do update set lease_until = excluded.lease_until, boot_id = excluded.boot_id
      where nodes.boot_id is null or nodes.boot_id = any(${[...endedBootIds]}::text[])
        or nodes.lease_until < ${silentBefore} or ${isFree}
      returning id
    ), orphaned as (
      update calls set orphaned_at = least(${now}, ${laterBy(sql`before.lease_until`, -LEASE_MS)}) from claimed, before
      where calls.node_id = claimed.id and calls.claimed_boot = before.boot_id and before.boot_id <> ${bootId}
        and calls.joined_at is not null and calls.ended_at is null and calls.orphaned_at is null
    )
    select id from claimed`.execute(db.query);
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
  await sql`update nodes set boot_id = null, lease_until = least(lease_until, ${now}) where id = ${nodeId} and boot_id = ${bootId}`.execute(
    db.query,
  );
}
