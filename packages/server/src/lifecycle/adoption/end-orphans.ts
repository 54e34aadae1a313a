/** Ends calls whose process is gone and whose clients have not come back. */

import { endOrphans, type OrphanedCall } from "../../store/snapshots/orphans.ts";
import type { Db } from "../../store/database/db.ts";
import type { EndCall } from "../end/ending.ts";
import { endLostCall, readLostCall, type RecoveryDeps } from "../end/recovery.ts";

export interface OrphanEndDeps {
  readonly db: Db;
  readonly endCall: EndCall;
  readonly logger: Pick<RecoveryDeps["logger"], "error">;
  /** From the last sign of life of its process on, a call waits this long for its client. */
  readonly resumeTimeoutMs: number;
}

/** Some of them; returns their number. To be called until there are none. */
export function endSomeOrphans({ db, endCall, logger, resumeTimeoutMs }: OrphanEndDeps): Promise<number> {
  return endOrphans(db, resumeTimeoutMs, (tx, call) => endOrphan({ db: tx, endCall, logger }, call));
}

/** The call is taken to have lasted until the last sign of life of its process. */
async function endOrphan(
  { db, endCall, logger }: Pick<OrphanEndDeps, "db" | "endCall" | "logger">,
  call: OrphanedCall,
): Promise<void> {
  const stored = await readLostCall({ db, logger }, call);
  const found = "its process was gone, and its client has not come back";
  await endLostCall({ db, endCall }, call, stored, {
    goneAtMs: call.orphanedAtMs,
    found,
    endReason: "connection_error",
  });
}
