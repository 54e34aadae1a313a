/** The lease of this node as this process sees it, and the calls that it lost while it was slow. */

import type { Logger } from "pino";
import type { LiveCalls } from "../runner/live-calls.ts";
import type { Db } from "../store/database/db.ts";
import type { NodeBoot } from "../store/nodes/node-claims.ts";
import { listEndedOf, NODE_LEASE_MS } from "../store/nodes/nodes.ts";
import { keepOwnCalls, listTaken } from "../store/snapshots/orphans.ts";

export class OwnLease {
  #beatenAtMs: number;
  /** Since when no two beats were further apart than a lease lasts. */
  #steadySinceMs: number;

  constructor(nowMs: number) {
    this.#beatenAtMs = nowMs;
    this.#steadySinceMs = nowMs;
  }

  /** A heartbeat was stored. `isLate`: others may have taken the lease as lapsed. */
  beaten(nowMs: number): { readonly sinceMs: number; readonly isLate: boolean } {
    const sinceMs = nowMs - this.#beatenAtMs;
    const isLate = sinceMs > NODE_LEASE_MS;
    if (isLate) this.#steadySinceMs = nowMs;
    this.#beatenAtMs = nowMs;
    return { sinceMs, isLate };
  }

  /** Whether this process has reached the database for as long as a lease lasts, so that it may judge others. */
  trustsOthers(nowMs: number): boolean {
    return nowMs - this.#steadySinceMs >= NODE_LEASE_MS && nowMs - this.#beatenAtMs < NODE_LEASE_MS;
  }
}

export interface LetGoDeps {
  readonly db: Db;
  readonly node: NodeBoot;
  readonly liveCalls: Pick<LiveCalls, "callIds" | "endCall" | "abandon">;
  readonly logger: Pick<Logger, "error">;
}

/** While this node was slow, others have taken its calls or ended them: they must not continue here. */
export async function letGo({ db, node, liveCalls, logger }: LetGoDeps): Promise<void> {
  await keepOwnCalls(db, node);
  const taken = await listTaken(db, node, liveCalls.callIds());
  for (const callId of taken) liveCalls.abandon(callId);
  if (taken.length > 0) logger.error({ calls: taken.length }, "other processes continue calls of this node");
  const ended = await listEndedOf(db, liveCalls.callIds());
  for (const callId of ended) liveCalls.endCall(callId);
  if (ended.length === 0) return;
  logger.error({ calls: ended.length }, "this node was considered lost, and another node ended its calls");
}
