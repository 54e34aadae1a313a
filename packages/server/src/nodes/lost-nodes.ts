/** Sends this node's heartbeat, and ends the calls of nodes without one (a lease with failure detection). */

import type { Logger } from "pino";
import { endSomeOrphans } from "../lifecycle/adoption/end-orphans.ts";
import { endLostCall, readLostCall } from "../lifecycle/end/recovery.ts";
import { repeat, type Loop } from "../pacing/repeat.ts";
import type { LiveCalls } from "../runner/live-calls.ts";
import {
  recordHeartbeat,
  deleteOldNodes,
  NODE_HEARTBEAT_MS,
  sweepLostNode,
  type LostCall,
} from "../store/nodes/nodes.ts";
import { holdsNode, releaseNode } from "../store/nodes/node-claims.ts";
import { keepOwnCalls, markOrphans } from "../store/snapshots/orphans.ts";
import { inPortions } from "../pacing/portions.ts";
import { letGo, OwnLease } from "./own-lease.ts";
import { strayCallCheck, type StrayCallDeps } from "./stray-calls.ts";

export interface NodeWatch {
  start(): void;
  /** Whether this process still runs as the node. Where another one does, its calls may not be joined here. */
  holds(): Promise<boolean>;
  /** Before a shutdown, which leaves waiting calls to the next start: from now on calls that do not run here stay open. */
  leaveCalls(): void;
  /**
   * Whether a lapsed lease of another node proves that its process is gone: this one has reached the database for as long
   * as a lease lasts.
   */
  trustsLeases(): boolean;
  /** Waits for running work, and gives the node up: the next start takes it at once. Idempotent. */
  close(): Promise<void>;
}

export interface NodeWatchDeps extends StrayCallDeps {
  readonly liveCalls: Pick<LiveCalls, "callIds" | "endCall" | "abandon">;
  /** How long a call whose process is gone waits for its client. */
  readonly resumeTimeoutMs: number;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /**
   * Another process has taken the node after a silence of this one, and has its calls: this process must end. It leaves
   * their records alone.
   */
  readonly onTaken: () => void;
}

export interface WatchTimes {
  readonly beatMs: number;
  /**
   * Uninterrupted beats of this node before it judges others: after an hour without the database, the first node would
   * otherwise treat all others as lost.
   */
  readonly beforeSweepsMs: number;
  /** Between two checks for calls that are open as calls of this node, and that it does not run. */
  readonly straysMs: number;
}

const TIMES: WatchTimes = {
  beatMs: NODE_HEARTBEAT_MS,
  beforeSweepsMs: 30_000,
  straysMs: 60_000,
};

/** Portions of 50 calls. The rest waits for the next beat, which a long sweep would delay. */
const PORTIONS_AT_ONCE = 20;

/** The node must have been claimed. Rejects when the first heartbeat cannot be written. */
export async function watchNodes(deps: NodeWatchDeps, times: WatchTimes = TIMES): Promise<NodeWatch> {
  const { db, node, logger } = deps;
  let timesLost = (await recordHeartbeat(db, node)) ?? 0;
  let isTaken = false;
  let watchingSinceMs = performance.now();
  const lease = new OwnLease(watchingSinceMs);
  let straysAtMs = watchingSinceMs;
  let leavesCalls = false;
  /** Until it has succeeded: a failure must not leave calls here that others have taken. */
  let mustLetGo = false;
  const checkStrays = strayCallCheck(deps);
  let loop: Loop | null = null;
  const closing = new AbortController();

  function giveUp(): void {
    if (!isTaken) logger.error({ nodeId: node.nodeId }, "another process runs as this node: this one ends");
    isTaken = true;
    deps.onTaken();
  }

  async function work(): Promise<void> {
    const seen = await recordHeartbeat(db, node);
    if (seen === null) {
      giveUp();
      return;
    }
    const nowMs = performance.now();
    const { sinceMs, isLate } = lease.beaten(nowMs);
    if (sinceMs > times.beforeSweepsMs) watchingSinceMs = nowMs;
    mustLetGo ||= isLate || seen !== timesLost;
    if (mustLetGo) {
      await letGo(deps);
      timesLost = seen;
      mustLetGo = false;
    } else {
      // Another node may have noted them just before this heartbeat, and would end them though they are alive.
      await keepOwnCalls(db, node);
    }
    if (nowMs - straysAtMs >= times.straysMs && !leavesCalls) {
      straysAtMs = nowMs;
      await checkStrays();
    }
    await sweepOrphans(deps, trustsLeases(), closing.signal);
    if (nowMs - watchingSinceMs >= times.beforeSweepsMs) await sweep(deps, closing.signal);
  }

  const trustsLeases = (): boolean => lease.trustsOthers(performance.now());

  return {
    start() {
      loop ??= repeat(
        work,
        () => times.beatMs,
        times.beatMs,
        (error) => logger.error({ error: String(error) }, "the check for lost nodes failed and is retried"),
      );
    },
    async holds() {
      const holds = await holdsNode(db, node);
      if (!holds) giveUp();
      return holds;
    },
    trustsLeases,
    leaveCalls: () => void (leavesCalls = true),
    async close() {
      closing.abort();
      await loop?.stop();
      await releaseNode(db, node).catch((error: unknown) => {
        logger.warn({ error: String(error) }, "the node could not be given up");
      });
    },
  };
}

/** Calls whose process is gone wait for their clients, and end when none comes back. */
async function sweepOrphans(deps: NodeWatchDeps, trustsLeases: boolean, signal: AbortSignal): Promise<void> {
  const { db, logger } = deps;
  const orphaned = await markOrphans(db, trustsLeases);
  if (orphaned > 0)
    logger.warn({ calls: orphaned }, "calls of a process that is gone wait for their clients");
  let ended = 0;
  await inPortions({ most: PORTIONS_AT_ONCE, signal }, async () => {
    const some = await endSomeOrphans(deps);
    ended += some;
    return some > 0;
  });
  if (ended > 0)
    logger.warn({ calls: ended }, "calls were ended whose process was gone and whose clients stayed away");
}

async function sweep(deps: NodeWatchDeps, signal: AbortSignal): Promise<void> {
  const { db, logger } = deps;
  await inPortions({ most: PORTIONS_AT_ONCE, signal }, async () => {
    const swept = await sweepLostNode(db, (tx, call) => endCallOfLostNode({ ...deps, db: tx }, call));
    if (swept === null) return false;
    logger.warn(swept, "calls of a node that did not respond were ended");
    return true;
  });
  for (const gone of await deleteOldNodes(db)) {
    logger.warn(gone, "a node has been gone for 30 days: its recordings are given up");
  }
}

/** The call is taken to have lasted until the last heartbeat of its node. */
async function endCallOfLostNode(
  { db, endCall, logger }: Pick<NodeWatchDeps, "db" | "endCall" | "logger">,
  call: LostCall,
): Promise<void> {
  const stored = await readLostCall({ db, logger }, call);
  const goneAtMs = call.joinedAtMs === null ? call.joinDeadlineMs : call.nodeSeenAtMs;
  await endLostCall({ db, endCall }, call, stored, { goneAtMs, found: "its process did not respond" });
}
