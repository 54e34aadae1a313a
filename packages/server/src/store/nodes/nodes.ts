/**
 * Heartbeats of the processes (nodes) that share a database, by its clock, and the recovery of calls of lost nodes.
 * Without it their calls would never end, and would count against the limits of their accounts permanently.
 */

import { sql } from "kysely";
import type { Row } from "../database/database.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { selectList, type Selected } from "../database/select-list.ts";
import type { UnfinishedCall } from "../calls/calls.ts";

/** Interval of the heartbeats. */
export const NODE_HEARTBEAT_MS = 10_000;

/**
 * A node without a heartbeat for this long counts as lost. Six intervals: a restart, or a minute without the database,
 * costs no call, and an account waits no longer than this for the capacity of calls that a crash ended.
 */
export const NODE_LOST_AFTER_MS = 60_000;

/** Nodes without unfinished calls are deleted after this. */
const NODE_RETENTION_DAYS = 30;

const now = sql`clock_timestamp()`;
const lostBefore = sql`${now} - make_interval(secs => ${NODE_LOST_AFTER_MS / 1000})`;

/** Records a heartbeat. Returns how often calls of the node were ended because it counted as lost. */
export async function recordHeartbeat(db: Db, nodeId: string): Promise<number> {
  const seen = await sql<Pick<Row<"nodes">, "times_lost">>`
    insert into nodes (id, seen_at) values (${nodeId}, ${now})
    on conflict (id) do update set seen_at = excluded.seen_at returning times_lost`.execute(db.query);
  return seen.rows[0]?.times_lost ?? 0;
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
 * Passes calls of one lost node to `end`: joined ones, and those whose join deadline has passed. A call that can still
 * be joined waits for its node until then. Exactly one sweeping node gets a call. A heartbeat of the lost node waits
 * until this transaction ends. Null: there is nothing to do.
 */
export async function sweepLostNode(
  db: Db,
  end: (tx: Db, call: LostCall) => Promise<void>,
): Promise<{ readonly nodeId: string; readonly calls: number } | null> {
  return inTransaction(db, async (tx) => {
    const isLostCall = sql`calls.ended_at is null and (calls.joined_at is not null or calls.join_deadline_at <= ${now})`;
    const lost = await sql<Pick<Row<"nodes">, "id" | "seen_at">>`
      select id, seen_at from nodes
      where seen_at < ${lostBefore} and exists (select 1 from calls where node_id = nodes.id and ${isLostCall})
      order by seen_at, id limit 1 for update skip locked`.execute(tx.query);
    const [node] = lost.rows;
    if (node === undefined) return null;
    const found = await sql<Selected<typeof lostColumns>>`
      select ${lostColumns} from calls where node_id = ${node.id} and ${isLostCall} order by created_at limit ${CALLS_AT_ONCE}`.execute(
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

export async function deleteOldNodes(db: Db): Promise<void> {
  await sql`
    delete from nodes where seen_at < ${now} - make_interval(days => ${NODE_RETENTION_DAYS})
      and not exists (select 1 from calls where node_id = nodes.id and ended_at is null)`.execute(db.query);
}

/** Those of the given calls that have ended. */
export async function listEndedOf(db: Db, callIds: readonly string[]): Promise<readonly string[]> {
  if (callIds.length === 0) return [];
  const read = await sql<Pick<Row<"calls">, "id">>`
    select id from calls where id = any(${[...callIds]}::uuid[]) and ended_at is not null`.execute(db.query);
  return read.rows.map(({ id }) => id);
}
