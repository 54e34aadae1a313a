/**
 * Heartbeats of the processes (nodes) that share a database, by its clock, and the recovery of calls of lost nodes.
 * Without it their calls would never end, and would count against the limits of their accounts permanently.
 */

import { sql } from "kysely";
import type { Row } from "../database/database.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { selectList, type Selected } from "../database/select-list.ts";
import { callsInHourOrder } from "../accounts/metering.ts";
import type { UnfinishedCall } from "../calls/calls.ts";
import type { NodeBoot } from "./node-claims.ts";

/** Interval of the heartbeats: a caller whose node is gone waits for three of them at most. */
export const NODE_HEARTBEAT_MS = 2_000;

/** A node without a heartbeat for this long no longer holds its joined calls: their callers may go on at another one. */
export const NODE_LEASE_MS = 3 * NODE_HEARTBEAT_MS;

/**
 * A node without a heartbeat for this long counts as lost. A restart, or a minute without the database, costs no call, and an account waits no longer than this for the capacity of calls that a crash ended.
 */
export const NODE_LOST_AFTER_MS = 60_000;

/** Nodes without unfinished calls are deleted after this. */
const NODE_RETENTION_DAYS = 30;

const now = sql`clock_timestamp()`;
const lostBefore = sql`${now} - make_interval(secs => ${NODE_LOST_AFTER_MS / 1000})`;

/**
 * Records a heartbeat. Returns how often calls of the node were ended because it counted as lost. Null: another process
 * has taken the node, and has ended its calls or resumed them.
 */
export async function recordHeartbeat(db: Db, { nodeId, bootId }: NodeBoot): Promise<number | null> {
  const seen = await sql<Pick<Row<"nodes">, "times_lost">>`
    insert into nodes (id, seen_at, boot_id) values (${nodeId}, ${now}, ${bootId})
    on conflict (id) do update set seen_at = excluded.seen_at where nodes.boot_id = excluded.boot_id
    returning times_lost`.execute(db.query);
  return seen.rows[0]?.times_lost ?? null;
}

/** Whether another node shares the database now. A node that has stopped has given up its boot. */
export async function otherNodeRuns(db: Db, nodeId: string): Promise<boolean> {
  const others = await sql`
    select 1 from nodes where id <> ${nodeId} and boot_id is not null and seen_at > ${lostBefore} limit 1`.execute(
    db.query,
  );
  return others.rows.length > 0;
}

/** Calls of a lost node that one transaction ends. During it the node's heartbeats wait. */
const CALLS_AT_ONCE = 50;

export interface LostCall extends UnfinishedCall {
  readonly joinDeadlineMs: number;
  /** The last heartbeat of its node. */
  readonly nodeSeenAtMs: number;
}

const lostColumns = selectList("calls", {
  callId: "id",
  accountId: "account_id",
  createdAt: "created_at",
  joinedAt: "joined_at",
  joinDeadlineAt: "join_deadline_at",
});

/**
 * Passes calls of one lost node to `end`: joined ones without a snapshot, and those whose join deadline has passed. A call that can still
 * be joined waits for its node until then. Exactly one sweeping node gets a call. A heartbeat of the lost node waits
 * until this transaction ends. Null: there is nothing to do.
 */
export async function sweepLostNode(
  db: Db,
  end: (tx: Db, call: LostCall) => Promise<void>,
): Promise<{ readonly nodeId: string; readonly calls: number } | null> {
  return inTransaction(db, async (tx) => {
    const isOrphan = sql`exists (select 1 from call_snapshots where call_id = calls.id)`;
    const isLostCall = sql`calls.ended_at is null and not ${isOrphan}
      and (calls.joined_at is not null or calls.join_deadline_at <= ${now})`;
    const lost = await sql<Pick<Row<"nodes">, "id" | "seen_at">>`
      select id, seen_at from nodes
      where seen_at < ${lostBefore} and exists (select 1 from calls where node_id = nodes.id and ${isLostCall})
      order by seen_at, id limit 1 for update skip locked`.execute(tx.query);
    const [node] = lost.rows;
    if (node === undefined) return null;
    const found = await sql<Selected<typeof lostColumns>>`
      select ${lostColumns} from calls where node_id = ${node.id} and ${isLostCall} order by ${callsInHourOrder} limit ${CALLS_AT_ONCE}`.execute(
      tx.query,
    );
    const nodeSeenAtMs = Date.parse(node.seen_at);
    for (const { callId, accountId, createdAt, joinedAt, joinDeadlineAt } of found.rows) {
      await end(tx, {
        callId,
        accountId,
        createdAtMs: Date.parse(createdAt),
        joinedAtMs: joinedAt === null ? null : Date.parse(joinedAt),
        joinDeadlineMs: Date.parse(joinDeadlineAt),
        nodeSeenAtMs,
      });
    }
    await sql`update nodes set times_lost = times_lost + 1 where id = ${node.id}`.execute(tx.query);
    return { nodeId: node.id, calls: found.rows.length };
  });
}

/** What a node leaves behind that nobody else can reach. */
export interface GoneNode {
  readonly nodeId: string;
  /** Recordings on its disk of calls that still exist. */
  readonly recordings: number;
}

/** Deletes nodes that have been gone for `NODE_RETENTION_DAYS`, and returns them. */
export async function deleteOldNodes(db: Db): Promise<readonly GoneNode[]> {
  const deleted = await sql<GoneNode>`
    delete from nodes where seen_at < ${now} - make_interval(days => ${NODE_RETENTION_DAYS})
      and not exists (select 1 from calls where node_id = nodes.id and ended_at is null)
    returning id as "nodeId", (select count(*)::int from calls where node_id = nodes.id and not recording_is_shared
      and not recording_erased and settings ->> 'recordingEnabled' = 'true') as recordings`.execute(db.query);
  return deleted.rows;
}

/** Calls that are open as calls of a node and that its process does not run. */
export interface StrayCalls {
  readonly node: NodeBoot;
  /** Calls that the process runs, or has records of. */
  readonly exceptIds: readonly string[];
}

/** Oldest first, at most `CALLS_AT_ONCE`. A call that can still be joined belongs to nobody, so it is none of them. */
export async function listStrayCalls(db: Db, { node, exceptIds }: StrayCalls): Promise<readonly string[]> {
  const read = await sql<{ id: string }>`
    select id from calls where node_id = ${node.nodeId} and ended_at is null and id <> all(${[...exceptIds]}::uuid[])
      and (joined_at is not null or join_deadline_at <= ${now})
      and not exists (select 1 from call_snapshots where call_id = calls.id
        and (orphaned_at is not null or boot_id <> ${node.bootId}))
    order by created_at limit ${CALLS_AT_ONCE}`.execute(db.query);
  return read.rows.map(({ id }) => id);
}

/** Passes those of the given calls that are still open to `end`, unless another process runs as the node by now. */
export async function endStrayCalls(
  db: Db,
  { nodeId, bootId }: NodeBoot,
  callIds: readonly string[],
  end: (tx: Db, call: UnfinishedCall) => Promise<void>,
): Promise<number> {
  return inTransaction(db, async (tx) => {
    const own =
      await sql`select 1 from nodes where id = ${nodeId} and boot_id = ${bootId} for update`.execute(
        tx.query,
      );
    if (own.rows.length === 0) return 0;
    const found = await sql<Selected<typeof lostColumns>>`
      select ${lostColumns} from calls
      where id = any(${[...callIds]}::uuid[]) and node_id = ${nodeId} and ended_at is null
      order by ${callsInHourOrder}`.execute(tx.query);
    for (const { callId, accountId, createdAt, joinedAt } of found.rows) {
      const joinedAtMs = joinedAt === null ? null : Date.parse(joinedAt);
      await end(tx, { callId, accountId, createdAtMs: Date.parse(createdAt), joinedAtMs });
    }
    return found.rows.length;
  });
}

/** Those of the given calls that have ended. */
export async function listEndedOf(db: Db, callIds: readonly string[]): Promise<readonly string[]> {
  if (callIds.length === 0) return [];
  const read = await sql<Pick<Row<"calls">, "id">>`
    select id from calls where id = any(${[...callIds]}::uuid[]) and ended_at is not null`.execute(db.query);
  return read.rows.map(({ id }) => id);
}
