/** Stops calls in this process that other processes own by now. */

import type { Logger } from "pino";
import type { LiveCalls } from "../runner/live-calls.ts";
import type { Db } from "../store/database/db.ts";
import type { NodeBoot } from "../store/nodes/node-claims.ts";
import { listNotOwned } from "../store/snapshots/orphans.ts";

export interface LetGoDeps {
  readonly db: Db;
  readonly node: NodeBoot;
  readonly liveCalls: Pick<LiveCalls, "callIds">;
  /** Takes a call that nobody has joined out of this process. False: it was joined here. */
  readonly release: (callId: string) => Promise<boolean>;
  /** Stops a joined call without an end or further records. */
  readonly abandon: (callId: string) => void;
  /** After a lapse of the lease: another process may be taking calls at this moment. */
  readonly hasLapsed: boolean;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Calls that nobody has joined are only kept ready, and any process may claim them. Joined ones were taken while the
 * lease of this process had lapsed, or were given up. Calls whose end this process itself has stored stay its own.
 */
export async function letGo(deps: LetGoDeps): Promise<void> {
  const { db, node, liveCalls, release, abandon, hasLapsed, logger } = deps;
  const foreign = await listNotOwned(db, node, liveCalls.callIds(), hasLapsed);
  const joined: string[] = [];
  for (const callId of foreign) if (!(await release(callId))) joined.push(callId);
  // A join may have claimed one for this process meanwhile.
  const taken = await listNotOwned(db, node, joined);
  for (const callId of taken) abandon(callId);
  if (taken.length > 0)
    logger.warn({ calls: taken.length }, "calls of this process belong to others by now, and stop here");
}
