/**
 * Conditions on rows of `nodes` and `calls`: whether a process runs, by its lease and the clock of the database, and who
 * owns a call.
 */

import { sql, type RawBuilder } from "kysely";

/** One process that runs as a node. */
export interface NodeBoot {
  readonly nodeId: string;
  readonly bootId: string;
}

type Condition = RawBuilder<boolean>;

/** A row of `nodes` whose process runs now. */
export const isRunning: Condition = sql`(nodes.boot_id is not null and nodes.lease_until > clock_timestamp())`;

/**
 * A row of `calls` whose process runs now: its owner, or the node that keeps a call ready which nobody has claimed. A
 * joined call without an owner was given up.
 */
export const isKept: Condition = sql`(calls.claimed_boot = nodes.boot_id
  or (calls.claimed_boot is null and calls.joined_at is null))`;

export const hasRunningOwner: Condition = sql`exists (select 1 from nodes
  where nodes.id = calls.node_id and ${isRunning} and ${isKept})`;

/** A row of `calls` that the process owns. */
export function isOwnedBy({ nodeId, bootId }: NodeBoot): Condition {
  return sql`(calls.node_id = ${nodeId} and calls.claimed_boot = ${bootId})`;
}

/**
 * Whether the process may write the join and the end of a call: it owns the call, or keeps it ready, or writes what the
 * journal of an earlier process of its node holds. A journal can also be that of a node which has a new name since: the
 * call is then one that nobody runs, and that nobody could continue.
 */
export function mayWrite(boot: NodeBoot | undefined): Condition {
  if (boot === undefined) return sql`true`;
  const { nodeId, bootId } = boot;
  return sql`((calls.node_id = ${nodeId} and case
      when calls.claimed_boot is null then calls.joined_at is null
      else calls.claimed_boot = ${bootId} or exists (select 1 from nodes where id = ${nodeId} and boot_id = ${bootId}) end)
    or (not ${hasRunningOwner} and not exists (select 1 from call_snapshots where call_id = calls.id)))`;
}

/** Rows of `calls` and of `nodes`, which is null where there is no such node: the owner has certainly ended. */
export const isReplaced: Condition = sql`(calls.claimed_boot is null or nodes.id is null
  or nodes.boot_id is distinct from calls.claimed_boot)`;

/**
 * Whether the owner of a joined call is gone. A lapsed lease counts only for a process that could itself reach the
 * database all the time: after an outage of the database all leases have lapsed.
 */
export function isGone(trustsLeases: boolean): Condition {
  return trustsLeases ? sql`(${isReplaced} or nodes.lease_until <= clock_timestamp())` : isReplaced;
}
