/** Announces this process to the others that share the database, every two seconds, and sees who else runs. */

import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import { messageOf } from "../pacing/error-text.ts";
import { repeat } from "../pacing/repeat.ts";
import type { Db } from "../store/database/db.ts";
import { StoreStartError } from "../store/database/store-errors.ts";
import {
  ALL_SHARES,
  announceNode,
  LEASE_MS,
  type NodesSeen,
  type RunningNode,
} from "../store/nodes/announcements.ts";
import type { NodeBoot } from "../store/nodes/node-claims.ts";

/** Two of three announcements may fail before the lease lapses. */
const ANNOUNCE_INTERVAL_MS = 2_000;
/** Between two looks at another process that may be gone. */
const LOOK_INTERVAL_MS = 500;
/** Longest wait for a share of the request rates: the others give one up with their next announcement. */
const SHARE_LIMIT_MS = 3 * ANNOUNCE_INTERVAL_MS;

export interface AnnouncerDeps {
  readonly db: Db;
  readonly node: NodeBoot;
  /** Where the others reach this process; null: `NODE_ADDRESS` is not set. */
  readonly address: string | null;
  readonly version: string;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /** For tests. */
  readonly intervalMs?: number | undefined;
  readonly leaseMs?: number | undefined;
}

export interface Announcer {
  /** The time of the database, ms since 1970, as this process knows it. */
  nowMs(): number;
  /** Share of the request rates, from 0 to 1. */
  share(): number;
  others(): readonly RunningNode[];
  /** Waits for a share of the request rates, which the others give up at their next announcement. */
  shared(): Promise<void>;
  /**
   * From now on the calls are counted, and `after` runs after each announcement. `lapsed`: the lease had lapsed before it.
   */
  start(liveCalls: () => number, after: (lapsed: boolean) => Promise<void>): void;
  /** From now on this process takes no calls. */
  drain(): void;
  isDraining(): boolean;
  /** Idempotent. */
  close(): Promise<void>;
}

/**
 * Announces the process, and goes on.
 * @throws StoreStartError when another process runs, and one of the two has no address
 */
export async function openAnnouncer(deps: AnnouncerDeps): Promise<Announcer> {
  const { db, node, address, version, logger, intervalMs = ANNOUNCE_INTERVAL_MS } = deps;
  const { leaseMs = LEASE_MS } = deps;
  let isDraining = false;
  const announcement = () => ({ address, version, isDraining, liveCalls: liveCalls(), leaseMs });
  let seen: NodesSeen = await enter(deps);
  let offsetMs = seen.databaseMs - Date.now();
  let renewedAtMs = performance.now();
  let liveCalls = (): number => 0;
  let after: ((lapsed: boolean) => Promise<void>) | null = null;

  /** Returns whether the lease had lapsed. */
  async function announce(): Promise<boolean> {
    const announced = await announceNode(db, node, announcement());
    // The heartbeat finds that as well, and ends the process.
    if (announced.kind !== "announced") return false;
    const lapsed = performance.now() - renewedAtMs > leaseMs;
    renewedAtMs = performance.now();
    offsetMs = announced.databaseMs - Date.now();
    const known = new Set(seen.others.map(({ bootId }) => bootId));
    for (const other of announced.others) {
      if (!known.has(other.bootId)) noteOther(deps, other);
    }
    seen = announced;
    return lapsed;
  }

  // From now on: a start may take longer than a lease.
  const loop = repeat(
    async () => {
      const lapsed = await announce();
      await after?.(lapsed);
    },
    () => intervalMs,
    intervalMs,
    (error) => logger.error({ error: messageOf(error) }, "the node could not be announced and is retried"),
  );
  return {
    nowMs: () => Date.now() + offsetMs,
    share() {
      // Others may have taken the share of a process whose lease has lapsed.
      if (performance.now() - renewedAtMs > leaseMs) return seen.others.length === 0 ? 1 : 0;
      return seen.share / ALL_SHARES;
    },
    others: () => seen.others,
    async shared() {
      const untilMs = performance.now() + SHARE_LIMIT_MS;
      while (seen.share === 0 && performance.now() < untilMs) {
        await wait(LOOK_INTERVAL_MS);
        await announce();
      }
      if (seen.share === 0)
        logger.warn({}, "other nodes have left this one no share of the request rates yet");
    },
    start(count, work) {
      liveCalls = count;
      after = work;
    },
    drain: () => void (isDraining = true),
    isDraining: () => isDraining,
    close: () => loop.stop(),
  };
}

function noteOther({ address, logger }: AnnouncerDeps, other: RunningNode): void {
  const fields = { nodeId: other.nodeId, address: other.address, version: other.version };
  if (address === null || other.address === null) {
    logger.error(fields, "another process uses this database, and NODE_ADDRESS is not set for both of them");
  } else logger.info(fields, "another node runs");
}

/** A lease of a process that has crashed runs on for up to six seconds, so it is watched until it is renewed or lapses. */
async function enter(deps: AnnouncerDeps): Promise<NodesSeen> {
  const { db, node, address, version, leaseMs = LEASE_MS } = deps;
  // The calls of before this start are resumed later.
  const announcement = { address, version, isDraining: false, liveCalls: 0, leaseMs };
  const conflictsOf = (others: readonly RunningNode[]): readonly RunningNode[] =>
    others.filter((other) => address === null || other.address === null);
  const leases = new Map<string, number>();
  const untilMs = performance.now() + 2 * LEASE_MS;
  for (;;) {
    const announced = await announceNode(
      db,
      node,
      announcement,
      (others) => conflictsOf(others).length === 0,
    );
    if (announced.kind === "announced") {
      for (const other of announced.others) noteOther(deps, other);
      return announced;
    }
    if (announced.kind === "taken")
      throw new StoreStartError("Another process runs as this node; the service must be started again.");
    for (const other of conflictsOf(announced.others)) {
      const before = leases.get(other.bootId);
      if (before !== undefined && other.leaseUntilMs > before) throw refusal(address, other);
      leases.set(other.bootId, other.leaseUntilMs);
      if (performance.now() > untilMs) throw refusal(address, other);
    }
    await wait(LOOK_INTERVAL_MS);
  }
}

function refusal(address: string | null, other: RunningNode): StoreStartError {
  const which = `Another process of the service (node ${other.nodeId}) uses the database of DATABASE_URL`;
  const how = "such as http://10.0.0.5:8090, the address at which the others reach it";
  return new StoreStartError(
    address === null
      ? `${which}. Set NODE_ADDRESS for each of them, ${how}; or stop the other one.`
      : `${which} without NODE_ADDRESS. Restart it with NODE_ADDRESS set, ${how}; or stop it.`,
  );
}
