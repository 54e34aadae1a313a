/** Sends this node's heartbeat, and ends the calls of nodes without one (a lease with failure detection). */

import type { Logger } from "pino";
import type { EndCall } from "../lifecycle/end/ending.ts";
import { endLostCall, readLostCall } from "../lifecycle/end/recovery.ts";
import { repeat, type Loop } from "../pacing/repeat.ts";
import type { LiveCalls } from "../runner/live-calls.ts";
import type { Db } from "../store/database/db.ts";
import {
  recordHeartbeat,
  deleteOldNodes,
  listEndedOf,
  NODE_HEARTBEAT_MS,
  sweepLostNode,
  type LostCall,
} from "../store/nodes/nodes.ts";
import { inPortions } from "../pacing/portions.ts";

export interface NodeWatch {
  start(): void;
  /** Waits for running work. Idempotent. */
  close(): Promise<void>;
}

export interface NodeWatchDeps {
  readonly db: Db;
  readonly nodeId: string;
  readonly liveCalls: Pick<LiveCalls, "callIds" | "endCall">;
  readonly endCall: EndCall;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
}

export interface WatchTimes {
  readonly beatMs: number;
  /**
   * Uninterrupted beats of this node before it judges others: after an hour without the database, the first node would
   * otherwise treat all others as lost.
   */
  readonly beforeSweepsMs: number;
}

const TIMES: WatchTimes = { beatMs: NODE_HEARTBEAT_MS, beforeSweepsMs: 3 * NODE_HEARTBEAT_MS };

/** Portions of 50 calls. The rest waits for the next beat, which a long sweep would delay. */
const PORTIONS_AT_ONCE = 20;

/** Rejects when the first heartbeat cannot be written. */
export async function watchNodes(deps: NodeWatchDeps, times: WatchTimes = TIMES): Promise<NodeWatch> {
  const { db, nodeId, liveCalls, logger } = deps;
  let timesLost = await recordHeartbeat(db, nodeId);
  let beatenAtMs = performance.now();
  let watchingSinceMs = beatenAtMs;
  let loop: Loop | null = null;
  const closing = new AbortController();

  /** While this node was slow, others have ended its calls: the rest of them here must not continue unrecorded. */
  async function letGo(): Promise<void> {
    const ended = await listEndedOf(db, liveCalls.callIds());
    for (const callId of ended) liveCalls.endCall(callId);
    logger.error({ calls: ended.length }, "this node was considered lost, and another node ended its calls");
  }

  async function sweep(): Promise<void> {
    await inPortions({ most: PORTIONS_AT_ONCE, signal: closing.signal }, async () => {
      const swept = await sweepLostNode(db, (tx, call) => endCallOfLostNode({ ...deps, db: tx }, call));
      if (swept === null) return false;
      logger.warn(swept, "calls of a node that did not respond were ended");
      return true;
    });
    await deleteOldNodes(db);
  }

  async function work(): Promise<void> {
    const seen = await recordHeartbeat(db, nodeId);
    const nowMs = performance.now();
    if (nowMs - beatenAtMs > times.beforeSweepsMs) watchingSinceMs = nowMs;
    beatenAtMs = nowMs;
    if (seen !== timesLost) {
      await letGo();
      timesLost = seen;
    }
    if (nowMs - watchingSinceMs >= times.beforeSweepsMs) await sweep();
  }

  return {
    start() {
      loop ??= repeat(
        work,
        () => times.beatMs,
        times.beatMs,
        (error) => logger.error({ error: String(error) }, "the check for lost nodes failed and is retried"),
      );
    },
    async close() {
      closing.abort();
      await loop?.stop();
    },
  };
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
