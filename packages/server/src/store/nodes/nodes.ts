/** Nodes that share the database, those that are gone, and calls that are open as calls of a process that does not run them. */

import { sql } from "kysely";
import { laterBy } from "../database/database-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { isOwnedBy, type NodeBoot } from "../database/running-nodes.ts";
import { selectList, type Selected } from "../database/select-list.ts";
import { callsInHourOrder } from "../accounts/metering.ts";
import type { UnfinishedCall } from "../calls/calls.ts";

/** A process whose lease lapsed this long ago counts as lost: a minute without the database costs no call. */
export const NODE_LOST_AFTER_MS = 60_000;

/** Nodes without unfinished calls are deleted after this. */
const NODE_RETENTION_DAYS = 30;

const now = sql`clock_timestamp()`;
const lostBefore = laterBy(now, -NODE_LOST_AFTER_MS);

/** Whether another node shares the database now. A node that has stopped has given up its boot. */
export async function otherNodeRuns(db: Db, nodeId: string): Promise<boolean> {
  const others = await sql`
    select 1 from nodes where id <> ${nodeId} and boot_id is not null and lease_until > ${lostBefore} limit 1`.execute(
    db.query,
  );
  return others.rows.length > 0;
}

/** Stray calls that one transaction ends. */
const CALLS_AT_ONCE = 50;

const strayColumns = selectList("calls", {
  callId: "id",
  accountId: "account_id",
  createdAt: "created_at",
  joinedAt: "joined_at",
});

/** What a node leaves behind that nobody else can reach. */
export interface GoneNode {
  readonly nodeId: string;
  /** Recordings on its disk of calls that still exist. */
  readonly recordings: number;
}

/** Deletes nodes that have been gone for `NODE_RETENTION_DAYS`, and returns them. */
export async function deleteOldNodes(db: Db): Promise<readonly GoneNode[]> {
  const deleted = await sql<GoneNode>`
    delete from nodes where lease_until < ${now} - make_interval(days => ${NODE_RETENTION_DAYS})
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

/** Oldest first, at most `CALLS_AT_ONCE`. Join timeouts of calls that nobody has joined are `endMissedCalls`. */
export async function listStrayCalls(db: Db, { node, exceptIds }: StrayCalls): Promise<readonly string[]> {
  const read = await sql<{ id: string }>`
    select id from calls where ${isOwnedBy(node)} and joined_at is not null and ended_at is null
      and id <> all(${[...exceptIds]}::uuid[])
    order by created_at limit ${CALLS_AT_ONCE}`.execute(db.query);
  return read.rows.map(({ id }) => id);
}

/** Passes those of the given calls that the process still owns to `end`, unless another one runs as the node by now. */
export async function endStrayCalls(
  db: Db,
  node: NodeBoot,
  callIds: readonly string[],
  end: (tx: Db, call: UnfinishedCall) => Promise<void>,
): Promise<number> {
  return inTransaction(db, async (tx) => {
    const found = await sql<Selected<typeof strayColumns>>`
      select ${strayColumns} from calls
      where id = any(${[...callIds]}::uuid[]) and ${isOwnedBy(node)} and ended_at is null
        and exists (select 1 from nodes where nodes.id = ${node.nodeId} and nodes.boot_id = ${node.bootId})
      order by ${callsInHourOrder} for update`.execute(tx.query);
    for (const { callId, accountId, createdAt, joinedAt } of found.rows) {
      const joinedAtMs = joinedAt === null ? null : Date.parse(joinedAt);
      await end(tx, { callId, accountId, createdAtMs: Date.parse(createdAt), joinedAtMs });
    }
    return found.rows.length;
  });
}
