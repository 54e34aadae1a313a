/** Gives this node's signs of life, and ends the calls of nodes that give none any more. */

import type { Logger } from "pino";
import type { EndCall } from "./call-ending.ts";
import { endLostCall, readLostCall } from "./recovery.ts";
import { repeat, type Loop } from "./repeat.ts";
import type { LiveCalls } from "./runner/live-calls.ts";
import type { Db } from "./store/db.ts";
import {
  beat,
  forgetOldNodes,
  listEndedOf,
  NODE_BEAT_MS,
  sweepLostNode,
  type LostCall,
} from "./store/nodes.ts";

export interface NodeWatch {
  start(): void;
  /** Waits for what is under way. Idempotent. */
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
   * Beats without a gap before this node judges others: after an hour in which nobody reached the database, whoever
   * comes first would take all others for lost.
   */
  readonly beforeSweepsMs: number;
}

const TIMES: WatchTimes = { beatMs: NODE_BEAT_MS, beforeSweepsMs: 3 * NODE_BEAT_MS };

/** Of 50 calls each. What is left waits for the next beat, which a long sweep would delay. */
const PORTIONS_AT_ONCE = 20;

/** Rejects when the first sign of life cannot be written. */
export async function watchNodes(deps: NodeWatchDeps, times: WatchTimes = TIMES): Promise<NodeWatch> {
  const { db, nodeId, liveCalls, logger } = deps;
  let timesLost = await beat(db, nodeId);
  let beatenAtMs = performance.now();
  let watchingSinceMs = beatenAtMs;
  let loop: Loop | null = null;
  const closing = new AbortController();

  /** While this node was slow, others have ended its calls: what is left of them here must not go on unrecorded. */
  async function letGo(): Promise<void> {
    const ended = await listEndedOf(db, liveCalls.callIds());
    for (const callId of ended) liveCalls.endCall(callId);
    logger.error(
      { calls: ended.length },
      "this node was taken for lost, and its calls were ended by another",
    );
  }

  async function sweep(): Promise<void> {
    for (let portions = 0; portions < PORTIONS_AT_ONCE && !closing.signal.aborted; portions += 1) {
      const swept = await sweepLostNode(db, (tx, call) => endCallOfLostNode({ ...deps, db: tx }, call));
      if (swept === null) break;
      logger.warn(swept, "calls of a node that gave no sign of life were ended");
    }
    await forgetOldNodes(db);
  }

  async function work(): Promise<void> {
    const seen = await beat(db, nodeId);
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
        (error) => logger.error({ error: String(error) }, "the watch of nodes failed and is tried again"),
      );
    },
    async close() {
      closing.abort();
      await loop?.stop();
    },
  };
}

/** It went on until its node's last sign of life, as far as anybody knows. */
async function endCallOfLostNode(
  { db, endCall, logger }: Pick<NodeWatchDeps, "db" | "endCall" | "logger">,
  call: LostCall,
): Promise<void> {
  const stored = await readLostCall({ db, logger }, call);
  const goneAtMs = call.joinedAtMs === null ? call.joinDeadlineMs : call.nodeSeenAtMs;
  await endLostCall({ db, endCall }, call, stored, { goneAtMs, found: "its process gave no sign of life" });
}
