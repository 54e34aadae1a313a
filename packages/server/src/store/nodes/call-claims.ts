/**
 * Which process has a call. Before its join a call belongs to nobody: the node that has made it only keeps it ready. A
 * join claims it for a process by one conditional update, so exactly one of two joins at the same time gets it.
 */

import { sql } from "kysely";
import { callsInHourOrder } from "../accounts/metering.ts";
import type { UnfinishedCall } from "../calls/calls.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { hasRunningOwner, isKept, isRunning, type NodeBoot } from "../database/running-nodes.ts";

const now = sql`clock_timestamp()`;

/**
 * Claims a call that nobody has joined. False: another running process has claimed it, or it was joined, or it can no
 * longer be joined, or this process does not run as its node any more.
 */
export async function claimCall(db: Db, { nodeId, bootId }: NodeBoot, callId: string): Promise<boolean> {
  const claimed = await sql`
    update calls set node_id = ${nodeId}, claimed_boot = ${bootId}
    where id = ${callId} and joined_at is null and ended_at is null and join_deadline_at > ${now}
      and (claimed_boot is null or claimed_boot = ${bootId} or not ${hasRunningOwner})
      and exists (select 1 from nodes where nodes.id = ${nodeId} and nodes.boot_id = ${bootId})
    returning id`.execute(db.query);
  return claimed.rows.length === 1;
}

/** Gives up the claim on a call that nobody has joined. Idempotent. */
export async function releaseClaim(db: Db, { bootId }: NodeBoot, callId: string): Promise<void> {
  await sql`update calls set claimed_boot = null
    where id = ${callId} and claimed_boot = ${bootId} and joined_at is null and ended_at is null`.execute(
    db.query,
  );
}

/**
 * `waiting`: nobody has joined it; `owner` is the process that has claimed it or keeps it ready, null where none runs.
 * `joined`: null where its process is gone. `over`: it has ended, or its join deadline has passed, or it does not exist.
 */
export interface CallOwnership {
  readonly state: "waiting" | "joined" | "over";
  readonly owner: CallOwner | null;
}

export interface CallOwner extends NodeBoot {
  /** Null: other processes cannot reach it. */
  readonly address: string | null;
}

export async function readOwnership(db: Db, callId: string): Promise<CallOwnership> {
  const read = await sql<{
    state: CallOwnership["state"];
    nodeId: string | null;
    bootId: string | null;
    address: string | null;
  }>`select case when ended_at is not null then 'over' when joined_at is not null then 'joined'
      when join_deadline_at <= ${now} then 'over' else 'waiting' end as state,
      nodes.id as "nodeId", nodes.boot_id as "bootId", nodes.address
    from calls left join nodes on nodes.id = calls.node_id and ${isRunning} and ${isKept}
    where calls.id = ${callId}`.execute(db.query);
  const [row] = read.rows;
  if (row === undefined) return { state: "over", owner: null };
  const { state, nodeId, bootId, address } = row;
  const owner = nodeId === null || bootId === null ? null : { nodeId, bootId, address };
  return { state, owner };
}

/** Calls that one transaction ends. */
const CALLS_AT_ONCE = 50;

/** A call that nobody has joined in time, and whose process is gone. */
export interface MissedCall extends UnfinishedCall {
  readonly joinDeadlineMs: number;
}

/** This node, and the calls that it runs or has records of. */
export interface OwnCalls {
  readonly nodeId: string;
  readonly callIds: readonly string[];
}

/** Passes calls whose join deadline has passed, and that no process watches, to `end`. Returns their number. */
export async function endMissedCalls(
  db: Db,
  { nodeId, callIds }: OwnCalls,
  end: (tx: Db, call: MissedCall) => Promise<void>,
): Promise<number> {
  const isUnwatched = sql`(not ${hasRunningOwner} or (node_id = ${nodeId} and id <> all(${[...callIds]}::uuid[])))`;
  return inTransaction(db, async (tx) => {
    const found = await sql<{ callId: string; accountId: string; createdAt: string; joinDeadlineAt: string }>`
      select id as "callId", account_id as "accountId", created_at as "createdAt", join_deadline_at as "joinDeadlineAt"
      from calls where joined_at is null and ended_at is null and join_deadline_at <= ${now} and ${isUnwatched}
      order by ${callsInHourOrder} limit ${CALLS_AT_ONCE} for update skip locked`.execute(tx.query);
    for (const { callId, accountId, createdAt, joinDeadlineAt } of found.rows) {
      await end(tx, {
        callId,
        accountId,
        createdAtMs: Date.parse(createdAt),
        joinedAtMs: null,
        joinDeadlineMs: Date.parse(joinDeadlineAt),
      });
    }
    return found.rows.length;
  });
}
