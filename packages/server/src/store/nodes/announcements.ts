/**
 * What each process announces to the others that share the database: its address, and a lease by the clock of the
 * database. A process whose lease has lapsed does not count as running.
 */

import { sql } from "kysely";
import { inTransaction, type Db } from "../database/db.ts";
import { isRunning } from "../database/running-nodes.ts";
import type { NodeBoot } from "./node-claims.ts";

/** A process is gone this long after its last announcement: three of them may fail. */
export const LEASE_MS = 6_000;
/** All shares of the request rates together. */
export const ALL_SHARES = 1_000_000;
/** Announcements wait for each other, so that their shares add up. Nothing else in the database uses it: "announce". */
const LOCK = sql.raw("1634627439, 1970168677");

const now = sql`clock_timestamp()`;

export interface Announcement {
  /** Where the other processes reach this one; null: nowhere. */
  readonly address: string | null;
  readonly version: string;
  readonly isDraining: boolean;
  readonly liveCalls: number;
  /** `LEASE_MS`; longer in tests, which must not depend on the speed of the machine. */
  readonly leaseMs?: number | undefined;
}

/** Another process that runs now. */
export interface RunningNode extends NodeBoot, Omit<Announcement, "leaseMs"> {
  readonly leaseUntilMs: number;
}

export interface NodesSeen {
  readonly others: readonly RunningNode[];
  /** Of this process, in millionths. */
  readonly share: number;
  /** The time of the database, ms since 1970. */
  readonly databaseMs: number;
}

/** `taken`: another process runs as the node. `refused`: by `mayRun`; nothing was announced. */
export type Announced =
  | ({ readonly kind: "announced" } & NodesSeen)
  | { readonly kind: "taken" }
  | { readonly kind: "refused"; readonly others: readonly RunningNode[] };

/**
 * Renews the lease, and takes a share of the request rates: an equal one, as far as the other processes have left it by
 * then.
 * @param mayRun decides by the others; no other process announces itself meanwhile
 */
export async function announceNode(
  db: Db,
  { nodeId, bootId }: NodeBoot,
  { address, version, isDraining, liveCalls, leaseMs = LEASE_MS }: Announcement,
  mayRun: (others: readonly RunningNode[]) => boolean = () => true,
): Promise<Announced> {
  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx.query);
    const found = await listRunningOthers(tx, nodeId);
    const others = found.map(({ node }) => node);
    if (!mayRun(others)) return { kind: "refused", others };
    const taken = found.reduce((sum, other) => sum + other.share, 0);
    const equal = Math.floor(ALL_SHARES / (others.length + 1));
    const share = Math.max(0, Math.min(equal, ALL_SHARES - taken));
    const renewed = await sql<{ databaseMs: number }>`
      update nodes set lease_until = ${now} + make_interval(secs => ${leaseMs / 1000}), address = ${address},
        version = ${version}, is_draining = ${isDraining}, live_calls = ${liveCalls}, rate_share = ${share}
      where id = ${nodeId} and boot_id = ${bootId}
      returning (extract(epoch from ${now}) * 1000)::bigint as "databaseMs"`.execute(tx.query);
    const [row] = renewed.rows;
    return row === undefined
      ? { kind: "taken" }
      : { kind: "announced", others, share, databaseMs: row.databaseMs };
  });
}

interface SharingNode {
  readonly node: RunningNode;
  readonly share: number;
}

async function listRunningOthers(tx: Db, nodeId: string): Promise<readonly SharingNode[]> {
  const read = await sql<Omit<RunningNode, "leaseUntilMs"> & { leaseUntil: string; share: number }>`
    select id as "nodeId", boot_id as "bootId", address, version, is_draining as "isDraining",
      live_calls as "liveCalls", lease_until as "leaseUntil", rate_share as share
    from nodes where id <> ${nodeId} and ${isRunning}`.execute(tx.query);
  return read.rows.map(({ share, leaseUntil, ...node }) => ({
    node: { ...node, leaseUntilMs: Date.parse(leaseUntil) },
    share,
  }));
}
