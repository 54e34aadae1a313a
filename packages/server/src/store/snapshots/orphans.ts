/**
 * Calls whose process is gone, and that another one may continue: its lease has lapsed, or its node has been started
 * again. All times are those of the database.
 */

import { sql, type RawBuilder } from "kysely";
import { databaseTime, laterBy } from "../database/database-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { callsInHourOrder } from "../accounts/metering.ts";
import type { NodeBoot } from "../nodes/node-claims.ts";
import { NODE_LEASE_MS } from "../nodes/nodes.ts";
import type { UnfinishedCall } from "../calls/calls.ts";
import { openSnapshot } from "./call-snapshots.ts";

const now = sql`clock_timestamp()`;
/** The node was started again, or has given its boot up: its process is certainly gone. */
const isReplaced = sql`(nodes.id is null or nodes.boot_id is distinct from call_snapshots.boot_id)`;
const hasLapsed = sql`nodes.seen_at < ${laterBy(now, -NODE_LEASE_MS)}`;

/**
 * Whether the process is gone. A lease counts only for a node that could itself reach the database all the time: after
 * an outage of the database all leases have lapsed.
 */
function isGone(trustsLeases: boolean): RawBuilder<unknown> {
  return trustsLeases ? sql`(${isReplaced} or ${hasLapsed})` : isReplaced;
}

/** Notes when the processes of calls were last alive, where they are gone. Returns the number of calls. */
export async function markOrphans(db: Db, trustsLeases: boolean): Promise<number> {
  const marked = await sql`
    update call_snapshots set orphaned_at = case when gone.is_replaced then ${now} else gone.seen_at end
    from (select call_snapshots.call_id, nodes.seen_at, ${isReplaced} as is_replaced
      from call_snapshots left join nodes on nodes.id = call_snapshots.node_id
      where call_snapshots.orphaned_at is null and ${isGone(trustsLeases)}) as gone
    where call_snapshots.call_id = gone.call_id and call_snapshots.orphaned_at is null`.execute(db.query);
  return Number(marked.numAffectedRows ?? 0n);
}

/** The process was slow and is alive: its calls are not orphaned. */
export async function keepOwnCalls(db: Db, { nodeId, bootId }: NodeBoot): Promise<void> {
  await sql`update call_snapshots set orphaned_at = null
    where node_id = ${nodeId} and boot_id = ${bootId} and orphaned_at is not null`.execute(db.query);
}

/** Those of the given calls that another process runs. */
export async function listTaken(
  db: Db,
  boot: NodeBoot,
  callIds: readonly string[],
): Promise<readonly string[]> {
  if (callIds.length === 0) return [];
  const read = await sql<{ callId: string }>`
    select call_id as "callId" from call_snapshots
    where call_id = any(${[...callIds]}::uuid[]) and (node_id <> ${boot.nodeId} or boot_id <> ${boot.bootId})`.execute(
    db.query,
  );
  return read.rows.map(({ callId }) => callId);
}

/** A joined call that this process does not run. */
export interface HeldCall {
  /** The process that runs it, or ran it last. */
  readonly owner: NodeBoot;
  readonly isGone: boolean;
  /** The last heartbeat of its node, ms since 1970; null: the node is not known. */
  readonly seenAtMs: number | null;
  readonly version: number;
  readonly hasState: boolean;
}

/** Null: the call has ended, or has no snapshot. */
export async function readHeldCall(db: Db, callId: string, trustsLeases: boolean): Promise<HeldCall | null> {
  const read = await sql<{
    nodeId: string;
    bootId: string;
    isGone: boolean;
    seenAt: string | null;
    version: number;
    hasState: boolean;
  }>`
    select call_snapshots.node_id as "nodeId", call_snapshots.boot_id as "bootId", ${isGone(trustsLeases)} as "isGone",
      nodes.seen_at as "seenAt", engine_version as version, sealed_state is not null as "hasState"
    from call_snapshots join calls on calls.id = call_snapshots.call_id
      left join nodes on nodes.id = call_snapshots.node_id
    where call_snapshots.call_id = ${callId} and calls.ended_at is null`.execute(db.query);
  const [row] = read.rows;
  if (row === undefined) return null;
  const { nodeId, bootId, seenAt, ...held } = row;
  return { owner: { nodeId, bootId }, seenAtMs: seenAt === null ? null : Date.parse(seenAt), ...held };
}

export interface ClaimedCall {
  /** JSON, as it was given to `saveSnapshot`. */
  readonly document: string;
  /** Since the snapshot was stored. */
  readonly elapsedMs: number;
  /** ms since 1970; null: nobody had noted it. */
  readonly orphanedAtMs: number | null;
}

/**
 * Takes a call whose process is gone, for this process alone. Null: it is not gone, or another process was faster, or
 * the call has ended.
 * @throws when the snapshot is damaged, or was sealed with another key; nothing is taken
 */
export async function claimOrphan(
  db: Db,
  boot: NodeBoot,
  {
    callId,
    owner,
    trustsLeases,
  }: { readonly callId: string; readonly owner: NodeBoot; readonly trustsLeases: boolean },
): Promise<ClaimedCall | null> {
  const claimed = await inTransaction(db, async (tx) => {
    const read = await sql<{ sealed: string; elapsedMs: number; orphanedAt: string | null }>`
      select sealed_state as sealed, orphaned_at as "orphanedAt",
        (extract(epoch from ${now} - saved_at) * 1000)::bigint as "elapsedMs"
      from call_snapshots left join nodes on nodes.id = call_snapshots.node_id
      where call_snapshots.call_id = ${callId} and call_snapshots.node_id = ${owner.nodeId}
        and call_snapshots.boot_id = ${owner.bootId} and sealed_state is not null and ${isGone(trustsLeases)}
      for update of call_snapshots`.execute(tx.query);
    const [row] = read.rows;
    if (row === undefined) return null;
    // Before it is taken: one that cannot be opened here stays an orphan, and ends as one.
    const document = await openSnapshot(db, callId, row.sealed);
    const moved = await sql`
      update calls set node_id = ${boot.nodeId}, claimed_boot = ${boot.bootId} where id = ${callId} and ended_at is null returning id`.execute(
      tx.query,
    );
    if (moved.rows.length === 0) return null;
    await sql`update call_snapshots set node_id = ${boot.nodeId}, boot_id = ${boot.bootId}, orphaned_at = null
      where call_id = ${callId}`.execute(tx.query);
    return { ...row, document };
  });
  if (claimed === null) return null;
  const { document, elapsedMs, orphanedAt } = claimed;
  return {
    document,
    elapsedMs: Math.max(0, elapsedMs),
    orphanedAtMs: orphanedAt === null ? null : Date.parse(orphanedAt),
  };
}

/** Gives a claimed call back: nobody was connected to it here. */
export async function giveBackOrphan(
  db: Db,
  { nodeId, bootId }: NodeBoot,
  callId: string,
  orphanedAtMs: number | null,
): Promise<void> {
  const orphanedAt = orphanedAtMs === null ? databaseTime : sql`${new Date(orphanedAtMs)}::timestamptz`;
  // A boot that nobody has: from now on any process may take it. The directory must not name this one as its owner.
  const nobody = `given back by ${bootId}`;
  await sql`
    with given as (
      update call_snapshots set orphaned_at = ${orphanedAt}, boot_id = ${nobody}
      where call_id = ${callId} and node_id = ${nodeId} and boot_id = ${bootId} returning call_id
    )
    update calls set claimed_boot = ${nobody} from given where calls.id = given.call_id and ended_at is null`.execute(
    db.query,
  );
}

/** Calls that one transaction ends. */
const ORPHANS_AT_ONCE = 50;

export interface OrphanedCall extends UnfinishedCall {
  /** ms since 1970 */
  readonly orphanedAtMs: number;
}

/** Passes calls that nobody has come back to within `timeoutMs` to `end`. Returns their number. */
export async function endOrphans(
  db: Db,
  timeoutMs: number,
  end: (tx: Db, call: OrphanedCall) => Promise<void>,
): Promise<number> {
  return inTransaction(db, async (tx) => {
    // Written at the same time as the end of its call by another process. It would stay, and take the place of others.
    await sql`delete from call_snapshots using calls
      where orphaned_at <= ${laterBy(now, -timeoutMs)} and calls.id = call_snapshots.call_id
        and calls.ended_at is not null`.execute(tx.query);
    const found = await sql<{
      callId: string;
      accountId: string;
      createdAt: string;
      joinedAt: string | null;
      orphanedAt: string;
    }>`
      select id as "callId", account_id as "accountId", created_at as "createdAt", joined_at as "joinedAt",
        orphaned_at as "orphanedAt"
      from calls join (select call_id, orphaned_at from call_snapshots
        where orphaned_at <= ${laterBy(now, -timeoutMs)}
        order by orphaned_at limit ${ORPHANS_AT_ONCE} for update skip locked) as orphans on orphans.call_id = calls.id
      where ended_at is null order by ${callsInHourOrder}`.execute(tx.query);
    for (const { callId, accountId, createdAt, joinedAt, orphanedAt } of found.rows) {
      await end(tx, {
        callId,
        accountId,
        createdAtMs: Date.parse(createdAt),
        joinedAtMs: joinedAt === null ? null : Date.parse(joinedAt),
        orphanedAtMs: Date.parse(orphanedAt),
      });
    }
    return found.rows.length;
  });
}
