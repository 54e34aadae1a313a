/**
 * Signs of life of the processes that share a database, by its clock, and what is to be done for one that gives none any
 * more: nobody else would end its calls, and they would count against their accounts for ever.
 */

import { sql } from "kysely";
import { inTransaction, type Db } from "./db.ts";
import type { UnfinishedCall } from "./calls.ts";

/** How often a node gives a sign of life. */
export const NODE_BEAT_MS = 10_000;

/**
 * A node that gave none for this long counts as lost. Six beats: a restart, or a minute in which the database was out of
 * reach, costs no call; and an account waits no longer than this for the places of calls that a crash cut off.
 */
export const NODE_LOST_AFTER_MS = 60_000;

/** Nodes of which nothing is left are forgotten after this. */
const NODE_KEPT_DAYS = 30;

const now = sql`clock_timestamp()`;
const lostBefore = sql`${now} - make_interval(secs => ${NODE_LOST_AFTER_MS / 1000})`;

/** A sign of life. Gives how many times calls of the node were ended because it counted as lost. */
export async function beat(db: Db, nodeId: string): Promise<number> {
  const seen = await sql<{ times_lost: number }>`
    insert into nodes (id, seen_at) values (${nodeId}, ${now})
    on conflict (id) do update set seen_at = excluded.seen_at returning times_lost`.execute(db.query);
  return seen.rows[0]?.times_lost ?? 0;
}

/** Calls of a lost node that are ended by one transaction, during which the node itself cannot come back. */
const CALLS_AT_ONCE = 50;

export interface LostCall extends UnfinishedCall {
  readonly joinDeadlineMs: number;
  /** The last sign of life of its node. */
  readonly nodeSeenAtMs: number;
}

interface LostColumns {
  readonly callId: string;
  readonly accountId: string;
  readonly createdAt: string;
  readonly joinedAt: string | null;
  readonly joinDeadlineAt: string;
}

/**
 * Some calls of one node that counts as lost, for `end` to end each: those that were joined, and those that nobody joined
 * in time. A call that may still be joined waits for its node until then. Of all nodes that sweep, exactly one gets a
 * call; a lost node that gives a sign of life meanwhile waits until this is over. Null: there is nothing to do now.
 */
export async function sweepLostNode(
  db: Db,
  end: (tx: Db, call: LostCall) => Promise<void>,
): Promise<{ readonly nodeId: string; readonly calls: number } | null> {
  return inTransaction(db, async (tx) => {
    const isLostCall = sql`calls.ended_at is null and (calls.joined_at is not null or calls.join_deadline_at <= ${now})`;
    const lost = await sql<{ id: string; seenAt: string }>`
      select id, seen_at as "seenAt" from nodes
      where seen_at < ${lostBefore} and exists (select 1 from calls where node_id = nodes.id and ${isLostCall})
      order by seen_at, id limit 1 for update skip locked`.execute(tx.query);
    const [node] = lost.rows;
    if (node === undefined) return null;
    const found = await sql<LostColumns>`
      select id as "callId", account_id as "accountId", created_at as "createdAt", joined_at as "joinedAt",
        join_deadline_at as "joinDeadlineAt"
      from calls where node_id = ${node.id} and ${isLostCall} order by created_at limit ${CALLS_AT_ONCE}`.execute(
      tx.query,
    );
    const nodeSeenAtMs = Date.parse(node.seenAt);
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

export async function forgetOldNodes(db: Db): Promise<void> {
  await sql`
    delete from nodes where seen_at < ${now} - make_interval(days => ${NODE_KEPT_DAYS})
      and not exists (select 1 from calls where node_id = nodes.id and ended_at is null)`.execute(db.query);
}

/** Of the calls named, those that have ended. */
export async function listEndedOf(db: Db, callIds: readonly string[]): Promise<readonly string[]> {
  if (callIds.length === 0) return [];
  const read = await sql<{ id: string }>`
    select id from calls where id = any(${[...callIds]}::uuid[]) and ended_at is not null`.execute(db.query);
  return read.rows.map(({ id }) => id);
}
