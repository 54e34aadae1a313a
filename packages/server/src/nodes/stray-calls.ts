/** Ends calls that are open as calls of this node and that it does not run, such as those whose end was given up. */

import type { Logger } from "pino";
import type { EndCall } from "../lifecycle/end/ending.ts";
import { endLostCall, readLostCall } from "../lifecycle/end/recovery.ts";
import type { LiveCalls } from "../runner/live-calls.ts";
import type { UnfinishedCall } from "../store/calls/calls.ts";
import type { Db } from "../store/database/db.ts";
import type { NodeBoot } from "../store/nodes/node-claims.ts";
import { endStrayCalls, listStrayCalls } from "../store/nodes/nodes.ts";

export interface StrayCallDeps {
  readonly db: Db;
  readonly node: NodeBoot;
  readonly liveCalls: Pick<LiveCalls, "callIds">;
  /** Calls whose records, with their end, wait in the journal. */
  readonly journaled: () => readonly string[];
  readonly endCall: EndCall;
  readonly logger: Pick<Logger, "warn" | "error">;
}

/**
 * A check, to be made at intervals. A call that is being created is open before it runs, so one that is found twice in a
 * row is ended.
 */
export function strayCallCheck(deps: StrayCallDeps): () => Promise<void> {
  const { db, node, liveCalls, journaled, logger } = deps;
  let before: ReadonlySet<string> = new Set();
  return async () => {
    const found = await listStrayCalls(db, { node, exceptIds: [...liveCalls.callIds(), ...journaled()] });
    const again = found.filter((callId) => before.has(callId));
    before = new Set(found);
    if (again.length === 0) return;
    const ended = await endStrayCalls(db, node, again, (tx, call) => endStray({ ...deps, db: tx }, call));
    if (ended > 0) logger.warn({ calls: ended }, "calls of this node that it does not run were ended");
  };
}

async function endStray(
  { db, endCall, logger }: Pick<StrayCallDeps, "db" | "endCall" | "logger">,
  call: UnfinishedCall,
): Promise<void> {
  const stored = await readLostCall({ db, logger }, call);
  const goneAtMs = stored?.readAtMs ?? Date.now();
  await endLostCall({ db, endCall }, call, stored, { goneAtMs, found: "its process does not run it" });
}
