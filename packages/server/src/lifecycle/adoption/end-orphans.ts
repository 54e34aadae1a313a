/** Ends calls whose process is gone and whose clients have not come back. */

import type { CallUseRecord } from "@parley/schema";
import { SNAPSHOT_VERSION } from "../../call/adoption/snapshot.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { SnapshotRecord } from "../../runner/records/call-records.ts";
import { openSnapshot } from "../../store/snapshots/call-snapshots.ts";
import { endOrphans, type OrphanedCall, type OrphanLimits } from "../../store/snapshots/orphans.ts";
import type { Db } from "../../store/database/db.ts";
import type { EndCall } from "../end/ending.ts";
import { endLostCall, readLostCall, type RecoveryDeps } from "../end/recovery.ts";

export interface OrphanEndDeps {
  readonly db: Db;
  readonly endCall: EndCall;
  /** Of the prices of engines; null: there are none. */
  readonly currency: string | null;
  readonly logger: Pick<RecoveryDeps["logger"], "error">;
}

/** Some of them; returns their number. To be called until there are none. */
export function endSomeOrphans(deps: OrphanEndDeps, limits: OrphanLimits): Promise<number> {
  return endOrphans(deps.db, limits, (tx, call) => endOrphan({ ...deps, db: tx }, call));
}

/** The call is taken to have lasted until the last sign of life of its process. */
async function endOrphan(deps: OrphanEndDeps, call: OrphanedCall): Promise<void> {
  const { db, endCall, logger } = deps;
  const stored = await readLostCall({ db, logger }, call);
  const { isResumable, orphanedAtMs: goneAtMs } = call;
  const use = await useOf(deps, call);
  await endLostCall({ db, endCall }, call, stored, {
    goneAtMs,
    use,
    ...(isResumable
      ? { found: "its process was gone, and its client has not come back", endReason: "connection_error" }
      : { found: "its process did not respond" }),
  });
}

/** What the call has used of its engines up to its last snapshot. A snapshot that cannot be read does not block the end. */
async function useOf(
  { db, currency, logger }: OrphanEndDeps,
  { callId, sealedState }: OrphanedCall,
): Promise<CallUseRecord | null> {
  if (sealedState === null) return null;
  try {
    const { snapshot, use } = JSON.parse(await openSnapshot(db, callId, sealedState)) as SnapshotRecord;
    // Those of other versions may have other sums.
    if (snapshot.version !== SNAPSHOT_VERSION) return null;
    return use.length === 0 ? null : { currency, engines: use };
  } catch (error) {
    logger.error({ callId, error: messageOf(error) }, "the snapshot of a call cannot be read");
    return null;
  }
}
