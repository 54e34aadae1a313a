/**
 * The lease of each process that shares the database, by the clock of the database, and what it announces to the others.
 * A process whose lease has lapsed does not count as running.
 */

import { sql } from "kysely";
import { inTransaction, type Db } from "../database/db.ts";
import { isRunning, type NodeBoot } from "../database/running-nodes.ts";

/** Interval at which leases are renewed. */
export const RENEW_INTERVAL_MS = 2_000;
/** A process is gone this long after its last renewal: two of them may fail. */
export const LEASE_MS = 3 * RENEW_INTERVAL_MS;
/** All shares of the request rates together. */
export const ALL_SHARES = 1_000_000;
/** Processes that start, or take a greater share, wait for each other. Nothing else in the database uses it: "announce". */
const LOCK = sql.raw("1634627439, 1970168677");
/** A process that is stopped while it holds the lock loses it after this. */
export const LOCK_HOLD_LIMIT_MS = 2_000;
/** Longest wait for the lock: two holders that were stopped, and less than the limit of an answer. */
const LOCK_WAIT_LIMIT_MS = 5_000;

const now = sql`clock_timestamp()`;
const databaseMs = sql`(extract(epoch from ${now}) * 1000)::bigint`;

export interface Announcement {
  /** Where the other processes reach this one; null: nowhere. */
  readonly address: string | null;
  /** Which loopback interface this process has; null: not known. */
  readonly loopbackId?: string | null;
  readonly version: string;
  readonly isDraining: boolean;
  readonly liveCalls: number;
  /** `LEASE_MS`; longer in tests, which must not depend on the speed of the machine. */
  readonly leaseMs?: number | undefined;
}

/** Another process that runs now. */
export interface RunningNode extends NodeBoot, Omit<Announcement, "leaseMs" | "loopbackId"> {
  readonly loopbackId: string | null;
  readonly leaseUntilMs: number;
}

export interface NodesSeen {
  readonly others: readonly RunningNode[];
  /** Of this process, in millionths. */
  readonly share: number;
  /** What the share should be: an equal one, as far as the other processes have left it by now. */
  readonly fairShare: number;
  /** The time of the database, ms since 1970. */
  readonly databaseMs: number;
}

/** `taken`: another process runs as the node. `refused`: by `mayRun`; nothing was announced. */
export type Announced =
  | ({ readonly kind: "announced" } & NodesSeen)
  | { readonly kind: "taken" }
  | { readonly kind: "refused"; readonly others: readonly RunningNode[] };

/**
 * Announces a process that starts, with its first lease and share.
 * @param mayRun decides by the others; no other process starts meanwhile
 */
export async function announceNode(
  db: Db,
  node: NodeBoot,
  announcement: Announcement,
  mayRun: (others: readonly RunningNode[]) => boolean = () => true,
): Promise<Announced> {
  return inTurn(db, async (tx) => {
    const found = await listRunningOthers(tx, node.nodeId);
    const others = found.map((other) => other.node);
    if (!mayRun(others)) return { kind: "refused", others };
    const fairShare = fairShareBeside(found);
    const renewed = await sql<{ databaseMs: number }>`
      update nodes set ${lease(announcement)}, rate_share = ${fairShare}
      where id = ${node.nodeId} and boot_id = ${node.bootId} returning ${databaseMs} as "databaseMs"`.execute(
      tx.query,
    );
    const [row] = renewed.rows;
    if (row === undefined) return { kind: "taken" };
    return { kind: "announced", others, share: fairShare, fairShare, databaseMs: row.databaseMs };
  });
}

/** `hasLapsed`: until now the others could take the process as gone, and its calls. */
export type Renewed =
  ({ readonly kind: "renewed"; readonly hasLapsed: boolean } & NodesSeen) | { readonly kind: "taken" };

/** Renews the lease with one statement, which waits for no other process. A share that the others may have taken is lost. */
export async function renewLease(db: Db, node: NodeBoot, announcement: Announcement): Promise<Renewed> {
  const isOwn = sql`id = ${node.nodeId} and boot_id = ${node.bootId}`;
  const read = await sql<OtherRow & { ownShare: number; hasLapsed: boolean; databaseMs: number }>`
    with before as (select lease_until <= ${now} as has_lapsed from nodes where ${isOwn} for update),
    renewed as (
      update nodes set ${lease(announcement)}, rate_share = case when has_lapsed then 0 else rate_share end
      from before where ${isOwn} returning rate_share, has_lapsed, ${databaseMs} as database_ms
    )
    select renewed.rate_share as "ownShare", has_lapsed as "hasLapsed", database_ms as "databaseMs", ${otherColumns}
    from renewed left join nodes on nodes.id <> ${node.nodeId} and ${isRunning}`.execute(db.query);
  const [first] = read.rows;
  if (first === undefined) return { kind: "taken" };
  const found = read.rows.flatMap((row) => otherOf(row) ?? []);
  const { ownShare: share, hasLapsed, databaseMs: atMs } = first;
  const others = found.map((other) => other.node);
  return {
    kind: "renewed",
    hasLapsed,
    others,
    share,
    fairShare: fairShareBeside(found),
    databaseMs: atMs,
  };
}

/**
 * Takes an equal share of the request rates, as far as the other processes have left it. Those who take a greater one
 * wait for each other, so that the shares never add up to more than there is. Returns the share.
 */
export async function takeShare(db: Db, node: NodeBoot): Promise<number> {
  return inTurn(db, async (tx) => {
    const share = fairShareBeside(await listRunningOthers(tx, node.nodeId));
    const taken = await sql`
      update nodes set rate_share = ${share} where id = ${node.nodeId} and boot_id = ${node.bootId} and ${isRunning}
      returning id`.execute(tx.query);
    return taken.rows.length === 0 ? 0 : share;
  });
}

/** One transaction at a time. The limits are those of the server, which sees when a process is stopped. */
async function inTurn<Result>(db: Db, work: (tx: Db) => Promise<Result>): Promise<Result> {
  return inTransaction(db, async (tx) => {
    await sql`select set_config('idle_in_transaction_session_timeout', ${String(LOCK_HOLD_LIMIT_MS)}, true),
      set_config('lock_timeout', ${String(LOCK_WAIT_LIMIT_MS)}, true)`.execute(tx.query);
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx.query);
    return work(tx);
  });
}

function lease({
  address,
  loopbackId = null,
  version,
  isDraining,
  liveCalls,
  leaseMs = LEASE_MS,
}: Announcement) {
  return sql`lease_until = ${now} + make_interval(secs => ${leaseMs / 1000}), address = ${address},
    loopback_id = ${loopbackId}, version = ${version}, is_draining = ${isDraining}, live_calls = ${liveCalls}`;
}

interface SharingNode {
  readonly node: RunningNode;
  readonly share: number;
}

function fairShareBeside(others: readonly SharingNode[]): number {
  const taken = others.reduce((sum, other) => sum + other.share, 0);
  const equal = Math.floor(ALL_SHARES / (others.length + 1));
  return Math.max(0, Math.min(equal, ALL_SHARES - taken));
}

type OtherRow = Omit<RunningNode, "leaseUntilMs" | "nodeId"> & {
  /** Null in the one row that stands for no other process. */
  readonly nodeId: string | null;
  readonly leaseUntil: string;
  readonly share: number;
};

const otherColumns = sql`nodes.id as "nodeId", nodes.boot_id as "bootId", nodes.address,
  nodes.loopback_id as "loopbackId", nodes.version, nodes.is_draining as "isDraining", nodes.live_calls as "liveCalls",
  nodes.lease_until as "leaseUntil", nodes.rate_share as share`;

function otherOf(row: OtherRow): SharingNode | null {
  const { nodeId, bootId, address, loopbackId, version, isDraining, liveCalls, leaseUntil, share } = row;
  if (nodeId === null) return null;
  const leaseUntilMs = Date.parse(leaseUntil);
  return {
    node: { nodeId, bootId, address, loopbackId, version, isDraining, liveCalls, leaseUntilMs },
    share,
  };
}

async function listRunningOthers(tx: Db, nodeId: string): Promise<readonly SharingNode[]> {
  const read = await sql<OtherRow>`
    select ${otherColumns} from nodes where nodes.id <> ${nodeId} and ${isRunning}`.execute(tx.query);
  return read.rows.flatMap((row) => otherOf(row) ?? []);
}
