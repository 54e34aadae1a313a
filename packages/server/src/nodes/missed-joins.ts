/** Join timeouts of calls that no process watches, found in the database: they also fire when the node of a call is gone. */

import type { Logger } from "pino";
import type { EndCall } from "../lifecycle/end/ending.ts";
import { endLostCall, readLostCall } from "../lifecycle/end/recovery.ts";
import { inPortions } from "../pacing/portions.ts";
import type { LiveCalls } from "../runner/live-calls.ts";
import type { Db } from "../store/database/db.ts";
import { endMissedCalls, type MissedCall } from "../store/nodes/call-claims.ts";
import type { NodeBoot } from "../store/nodes/node-claims.ts";

/** Portions of 50 calls. The rest waits for the next sweep. */
const PORTIONS_AT_ONCE = 20;

export interface MissedJoinDeps {
  readonly db: Db;
  readonly node: NodeBoot;
  readonly liveCalls: Pick<LiveCalls, "callIds">;
  /** Calls whose records, with their end, wait in the journal. */
  readonly journaled: () => readonly string[];
  readonly endCall: EndCall;
  readonly logger: Pick<Logger, "info" | "error">;
}

export async function endMissedJoins(deps: MissedJoinDeps, signal: AbortSignal): Promise<void> {
  const { db, node, liveCalls, journaled, logger } = deps;
  await inPortions({ most: PORTIONS_AT_ONCE, signal }, async () => {
    const own = { nodeId: node.nodeId, callIds: [...liveCalls.callIds(), ...journaled()] };
    const ended = await endMissedCalls(db, own, (tx, call) => endMissed({ ...deps, db: tx }, call));
    if (ended > 0) logger.info({ calls: ended }, "calls that nobody has joined in time were ended");
    return ended > 0;
  });
}

async function endMissed(
  { db, endCall, logger }: Pick<MissedJoinDeps, "db" | "endCall" | "logger">,
  call: MissedCall,
): Promise<void> {
  const stored = await readLostCall({ db, logger }, call);
  await endLostCall({ db, endCall }, call, stored, {
    goneAtMs: call.joinDeadlineMs,
    found: "nobody has joined it in time",
  });
}
