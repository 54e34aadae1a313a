/**
 * Joined calls whose process is gone or has given them up, and that another one may continue. All times are those of the
 * database.
 */

import { sql } from "kysely";
import { databaseTime, laterBy } from "../database/database-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { isGone, isOwnedBy, isReplaced, isRunning, type NodeBoot } from "../database/running-nodes.ts";
import { callsInHourOrder } from "../accounts/metering.ts";
import { LEASE_MS } from "../nodes/announcements.ts";
import type { UnfinishedCall } from "../calls/calls.ts";
import { openSnapshot } from "./call-snapshots.ts";

const now = sql`clock_timestamp()`;

/** A process that judges others. It never judges itself: its own lease may have lapsed while it waits for a statement. */
export interface Judge {
  readonly boot: NodeBoot;
  /** See `isGone`. */
  readonly trustsLeases: boolean;
}

/**
 * Notes when the owners of calls were last alive, where they are gone, and removes that note from calls whose owner was
 * only slow. Returns the number of calls without an owner.
 */
export async function markOrphans(db: Db, { boot, trustsLeases }: Judge): Promise<number> {
  await sql`update calls set orphaned_at = null from nodes
    where orphaned_at is not null and ended_at is null and nodes.id = calls.node_id
      and nodes.boot_id = claimed_boot and ${isRunning}`.execute(db.query);
  const marked = await sql`
    update calls set orphaned_at = case when gone.is_replaced then ${now}
      else least(${now}, ${laterBy(sql`gone.lease_until`, -LEASE_MS)}) end
    from (select calls.id, nodes.lease_until, ${isReplaced} as is_replaced
      from calls left join nodes on nodes.id = calls.node_id
      where calls.joined_at is not null and calls.ended_at is null and calls.orphaned_at is null
        and not ${isOwnedBy(boot)} is true and ${isGone(trustsLeases)}) as gone
    where calls.id = gone.id and calls.orphaned_at is null and calls.ended_at is null`.execute(db.query);
  return Number(marked.numAffectedRows ?? 0n);
}

/** Calls that a node had when its process ended, and that wait for their clients. */
export async function countOrphans(db: Db, nodeId: string): Promise<number> {
  const read = await sql<{ count: number }>`
    select count(*)::int as count from calls where node_id = ${nodeId} and orphaned_at is not null and ended_at is null
      and exists (select 1 from call_snapshots where call_id = calls.id)`.execute(db.query);
  return read.rows[0]?.count ?? 0;
}

/** A joined call that this process does not run. */
export interface HeldCall {
  /** The process that runs it, or ran it last. */
  readonly owner: CallOwnerRow;
  readonly isGone: boolean;
  /** The end of the owner's lease, ms since 1970; null: its node is not known. */
  readonly leaseUntilMs: number | null;
  readonly version: number;
  readonly hasState: boolean;
}

export interface CallOwnerRow {
  readonly nodeId: string;
  /** Null: it has given the call up. */
  readonly bootId: string | null;
}

/** Null: the call has ended, or has no snapshot. */
export async function readHeldCall(db: Db, callId: string, trustsLeases: boolean): Promise<HeldCall | null> {
  const read = await sql<{
    nodeId: string;
    bootId: string | null;
    isGone: boolean;
    leaseUntil: string | null;
    version: number;
    hasState: boolean;
  }>`
    select calls.node_id as "nodeId", calls.claimed_boot as "bootId", ${isGone(trustsLeases)} as "isGone",
      nodes.lease_until as "leaseUntil", engine_version as version, sealed_state is not null as "hasState"
    from calls join call_snapshots on call_snapshots.call_id = calls.id
      left join nodes on nodes.id = calls.node_id
    where calls.id = ${callId} and calls.ended_at is null`.execute(db.query);
  const [row] = read.rows;
  if (row === undefined) return null;
  const { nodeId, bootId, leaseUntil, ...held } = row;
  const leaseUntilMs = leaseUntil === null ? null : Date.parse(leaseUntil);
  return { owner: { nodeId, bootId }, leaseUntilMs, ...held };
}

export interface ClaimedCall {
  /** JSON, as it was given to `saveSnapshot`. */
  readonly document: string;
  /** Since the snapshot was stored. */
  readonly elapsedMs: number;
  /** ms since 1970; null: nobody had noted it. */
  readonly orphanedAtMs: number | null;
}

export interface OrphanClaim {
  readonly callId: string;
  /** As it was read before: of two processes that claim the call, the second one finds another owner. */
  readonly owner: CallOwnerRow;
  readonly trustsLeases: boolean;
}

/**
 * Takes a call whose process is gone, for this process alone. Null: it is not gone, or another process was faster, or
 * the call has ended.
 * @throws when the snapshot is damaged, or was sealed with another key; nothing is taken
 */
export async function claimOrphan(
  db: Db,
  { nodeId, bootId }: NodeBoot,
  { callId, owner, trustsLeases }: OrphanClaim,
): Promise<ClaimedCall | null> {
  return inTransaction(db, async (tx) => {
    const taken = await sql<{ orphanedAt: string | null }>`
      update calls set node_id = ${nodeId}, claimed_boot = ${bootId}, orphaned_at = null
      from (select calls.id, calls.orphaned_at, ${isGone(trustsLeases)} as is_gone
        from calls left join nodes on nodes.id = calls.node_id where calls.id = ${callId}) as found
      where calls.id = found.id and found.is_gone and calls.ended_at is null and calls.joined_at is not null
        and calls.node_id = ${owner.nodeId} and calls.claimed_boot is not distinct from ${owner.bootId}::text
      returning found.orphaned_at as "orphanedAt"`.execute(tx.query);
    const [row] = taken.rows;
    if (row === undefined) return null;
    const read = await sql<{ sealed: string; elapsedMs: number }>`
      select sealed_state as sealed, (extract(epoch from ${now} - saved_at) * 1000)::bigint as "elapsedMs"
      from call_snapshots where call_id = ${callId} and sealed_state is not null`.execute(tx.query);
    const [stored] = read.rows;
    if (stored === undefined) throw new Error("the call has no snapshot that can be continued");
    return {
      // One that cannot be opened here is not taken: it stays an orphan, and ends as one.
      document: await openSnapshot(db, callId, stored.sealed),
      elapsedMs: Math.max(0, stored.elapsedMs),
      orphanedAtMs: row.orphanedAt === null ? null : Date.parse(row.orphanedAt),
    };
  });
}

/**
 * Gives up a call that this process owns: from now on any process may claim it. Call it when its last snapshot is stored
 * and nobody is connected to it here. False: this process does not own the call, or it has ended, or no process could
 * continue it.
 * @param orphanedAtMs since when its client has waited, ms since 1970; null: since now
 */
export async function giveUpCall(
  db: Db,
  boot: NodeBoot,
  callId: string,
  orphanedAtMs: number | null = null,
): Promise<boolean> {
  const orphanedAt = orphanedAtMs === null ? databaseTime : sql`${new Date(orphanedAtMs)}::timestamptz`;
  const given = await sql`
    update calls set claimed_boot = null, orphaned_at = ${orphanedAt}
    where id = ${callId} and ${isOwnedBy(boot)} and joined_at is not null and ended_at is null
      and exists (select 1 from call_snapshots where call_id = calls.id and sealed_state is not null)
    returning id`.execute(db.query);
  return given.rows.length === 1;
}

/**
 * Those of the given calls that other processes own or have ended, or that were given up.
 * @param waits for the transactions of processes that take them now: what they take counts
 */
export async function listNotOwned(
  db: Db,
  boot: NodeBoot,
  callIds: readonly string[],
  waits = false,
): Promise<readonly string[]> {
  if (callIds.length === 0) return [];
  // A call that nobody has claimed is kept ready by its node.
  const read = await sql<{ id: string }>`
    with asked as (
      select id, ${isOwnedBy(boot)} is true
        or (node_id = ${boot.nodeId} and claimed_boot is null and joined_at is null) as is_own
      from calls where id = any(${[...callIds]}::uuid[]) order by id ${waits ? sql`for share` : sql``}
    )
    select id from asked where not is_own`.execute(db.query);
  return read.rows.map(({ id }) => id);
}

/** Calls that one transaction ends. */
const ORPHANS_AT_ONCE = 50;

export interface OrphanLimits extends Judge {
  /** From the last sign of life of its process on, a call that can be continued waits this long; null: do not end any. */
  readonly resumableMs: number | null;
  /** The same for a call without a snapshot: its process may only be slow. */
  readonly lostMs: number | null;
}

export interface OrphanedCall extends UnfinishedCall {
  /** ms since 1970 */
  readonly orphanedAtMs: number;
  /** Its snapshot could be stored. */
  readonly isResumable: boolean;
  /** Sealed; see `openSnapshot`. Null: there is none, or it was too long. */
  readonly sealedState: string | null;
}

/**
 * Passes calls that nobody has come back to in time to `end`, after it has taken them from their process, which stops
 * them if it comes back. Returns their number.
 */
export async function endOrphans(
  db: Db,
  { boot, trustsLeases, resumableMs, lostMs }: OrphanLimits,
  end: (tx: Db, call: OrphanedCall) => Promise<void>,
): Promise<number> {
  const isDue = (limitMs: number | null) =>
    limitMs === null ? sql`false` : sql`calls.orphaned_at <= ${laterBy(now, -limitMs)}`;
  const hasSnapshot = sql`exists (select 1 from call_snapshots where call_id = calls.id)`;
  return inTransaction(db, async (tx) => {
    const found = await sql<{
      callId: string;
      accountId: string;
      createdAt: string;
      joinedAt: string | null;
      orphanedAt: string;
      isResumable: boolean;
      sealedState: string | null;
    }>`
      select calls.id as "callId", calls.account_id as "accountId", created_at as "createdAt",
        joined_at as "joinedAt", orphaned_at as "orphanedAt", ${hasSnapshot} as "isResumable",
        (select sealed_state from call_snapshots where call_id = calls.id) as "sealedState"
      from calls left join nodes on nodes.id = calls.node_id
      where calls.orphaned_at is not null and calls.ended_at is null and not ${isOwnedBy(boot)} is true
        and case when ${hasSnapshot} then ${isDue(resumableMs)} else ${isDue(lostMs)} end and ${isGone(trustsLeases)}
      order by ${callsInHourOrder} limit ${ORPHANS_AT_ONCE} for update of calls skip locked`.execute(
      tx.query,
    );
    const ids = found.rows.map(({ callId }) => callId);
    await sql`update calls set claimed_boot = null where id = any(${ids}::uuid[])`.execute(tx.query);
    for (const { createdAt, joinedAt, orphanedAt, ...call } of found.rows) {
      await end(tx, {
        ...call,
        createdAtMs: Date.parse(createdAt),
        joinedAtMs: joinedAt === null ? null : Date.parse(joinedAt),
        orphanedAtMs: Date.parse(orphanedAt),
      });
    }
    return found.rows.length;
  });
}
