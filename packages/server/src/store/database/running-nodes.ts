/** Conditions on rows of `nodes` and `calls`: whether a process runs, by its lease and the clock of the database. */

import { sql, type RawBuilder } from "kysely";

/** A row of `nodes` whose process runs now. */
export const isRunning: RawBuilder<boolean> = sql`(nodes.boot_id is not null
  and nodes.lease_until > clock_timestamp())`;

/** A row of `calls` whose process runs now: the one that a join has claimed it for, or the node that keeps it ready. */
export const hasRunningOwner: RawBuilder<boolean> = sql`exists (select 1 from nodes where nodes.id = calls.node_id
  and ${isRunning} and (calls.claimed_boot is null or calls.claimed_boot = nodes.boot_id))`;

/**
 * Whether the node may write the join and the end of a call: the call is its own, or that of a node which does not run
 * any more. Undefined: the call belongs to the writer without a doubt.
 */
export function isOfNode(nodeId: string | undefined): RawBuilder<boolean> {
  return nodeId === undefined ? sql`true` : sql`(calls.node_id = ${nodeId} or not ${hasRunningOwner})`;
}
