/**
 * The lease of this process: announced when it starts, and renewed every two seconds by a loop that does nothing else, on
 * a connection of its own. Who else runs, the share of the request rates and the time of the database come with it.
 */

import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import { messageOf } from "../pacing/error-text.ts";
import { repeat } from "../pacing/repeat.ts";
import type { Db } from "../store/database/db.ts";
import {
  ALL_SHARES,
  LEASE_MS,
  RENEW_INTERVAL_MS,
  renewLease,
  takeShare,
  type NodesSeen,
  type RunningNode,
} from "../store/nodes/announcements.ts";
import { holdsNode, releaseNode, type NodeBoot } from "../store/nodes/node-claims.ts";
import { enterNodes, noteOther, type EnteringNode } from "./enter-nodes.ts";
import { OwnLease } from "./own-lease.ts";

/** Between two tries for a share of the request rates. */
const SHARE_INTERVAL_MS = 500;
/** Longest wait for one: the others give one up with their next renewal. */
const SHARE_LIMIT_MS = 3 * RENEW_INTERVAL_MS;

export interface AnnouncerDeps extends EnteringNode {
  /** For shares, which wait for other processes. */
  readonly db: Db;
  /** For the lease alone: it must not wait for the statements of calls. */
  readonly leaseDb: Db;
  /** Another process has taken the node after a silence of this one, and has its calls: this process must end. */
  readonly onTaken: () => void;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /** For tests. */
  readonly intervalMs?: number | undefined;
}

export interface Announcer {
  /** The time of the database, ms since 1970, as this process knows it. */
  nowMs(): number;
  /** Share of the request rates, from 0 to 1. */
  share(): number;
  others(): readonly RunningNode[];
  /** Waits for a share of the request rates, which the others give up at their next renewal. */
  shared(): Promise<void>;
  /**
   * From now on the calls are counted. `lapsed` runs when the lease had lapsed, again until it succeeds: others may have
   * taken calls of this process.
   */
  start(liveCalls: () => number, lapsed: () => Promise<void>): void;
  readonly lease: Pick<OwnLease, "isHeld" | "whenHeld" | "steadyMs" | "trustsOthers">;
  /** Whether this process still runs as the node. Where another one does, its calls may not be joined here. */
  holdsNode(): Promise<boolean>;
  /** From now on this process takes no calls. */
  drain(): void;
  isDraining(): boolean;
  /** Gives the node up: the next start takes it at once. Idempotent. */
  close(): Promise<void>;
}

/**
 * Announces the process, and goes on.
 * @throws StoreStartError when another process runs, and one of the two cannot reach the other
 */
export async function openAnnouncer(deps: AnnouncerDeps): Promise<Announcer> {
  const { db, leaseDb, node, address, loopbackId, version, logger } = deps;
  const { leaseMs = LEASE_MS, intervalMs = RENEW_INTERVAL_MS } = deps;
  const entered = await enterNodes(deps);
  let seen: NodesSeen = entered;
  const lease = new OwnLease(entered.sentAtMs, leaseMs);
  let offsetMs = seen.databaseMs - Date.now();
  let isDraining = false;
  let liveCalls = (): number => 0;
  let isTaken = false;

  function giveUp(): void {
    if (isTaken) return;
    isTaken = true;
    logger.error({ nodeId: node.nodeId }, "another process runs as this node: this one ends");
    deps.onTaken();
  }

  async function renew(): Promise<void> {
    const sentAtMs = performance.now();
    const announcement = { address, loopbackId, version, isDraining, liveCalls: liveCalls(), leaseMs };
    const renewed = await renewLease(leaseDb, node, announcement);
    if (renewed.kind === "taken") return giveUp();
    lease.renewed(sentAtMs, renewed.hasLapsed);
    offsetMs = renewed.databaseMs - Date.now();
    const known = new Set(seen.others.map(({ bootId }) => bootId));
    for (const other of renewed.others) if (!known.has(other.bootId)) noteOther(deps, other);
    seen = renewed;
    if (seen.fairShare !== seen.share) void share.take();
  }

  const share = shareTaker(db, node, logger, (taken) => (seen = { ...seen, share: taken }));
  // From now on: a start may take longer than a lease.
  const loop = repeat(
    renew,
    () => intervalMs,
    intervalMs,
    (error) => logger.error({ error: messageOf(error) }, "the lease was not renewed and is retried"),
  );
  let closing: Promise<void> | null = null;
  return {
    nowMs: () => Date.now() + offsetMs,
    share() {
      // Others may have taken the share of a process whose lease has lapsed.
      if (!lease.isCurrent()) return seen.others.length === 0 ? 1 : 0;
      return seen.share / ALL_SHARES;
    },
    others: () => seen.others,
    shared: () => untilShared(() => seen.share, share.take, logger),
    start(count, lapsed) {
      liveCalls = count;
      lease.onLapse(lapsed, (error) =>
        logger.error(
          { error: messageOf(error) },
          "calls that others may have taken were not checked; retried",
        ),
      );
    },
    lease,
    async holdsNode() {
      const holds = await holdsNode(db, node);
      if (!holds) giveUp();
      return holds;
    },
    drain: () => void (isDraining = true),
    isDraining: () => isDraining,
    close: () => (closing ??= loop.stop().then(() => giveUpNode(deps))),
  };
}

async function giveUpNode({ leaseDb, node, logger }: AnnouncerDeps): Promise<void> {
  await releaseNode(leaseDb, node).catch((error: unknown) => {
    logger.warn({ error: messageOf(error) }, "the node could not be given up");
  });
}

async function untilShared(
  current: () => number,
  take: () => Promise<void>,
  logger: Pick<Logger, "warn">,
): Promise<void> {
  const untilMs = performance.now() + SHARE_LIMIT_MS;
  while (current() === 0 && performance.now() < untilMs) {
    await wait(SHARE_INTERVAL_MS);
    await take();
  }
  if (current() === 0) logger.warn({}, "other nodes have left this one no share of the request rates yet");
}

/** One try at a time. It waits for other processes, which the renewal of the lease must not do. */
function shareTaker(
  db: Db,
  node: NodeBoot,
  logger: Pick<Logger, "warn">,
  taken: (share: number) => void,
): { readonly take: () => Promise<void> } {
  let taking: Promise<void> | null = null;
  return {
    take: () =>
      (taking ??= takeShare(db, node)
        .then(taken, (error: unknown) => {
          logger.warn(
            { error: messageOf(error) },
            "the share of the request rates was not changed and is retried",
          );
        })
        .finally(() => (taking = null))),
  };
}
