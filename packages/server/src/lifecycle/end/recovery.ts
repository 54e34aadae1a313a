/** Finds the calls that this node had when it stopped, and ends them or waits for their join again. */

import type { CallUseRecord, EndReason } from "@parley/schema";
import type { Logger } from "pino";
import type { EndCall } from "./ending.ts";
import { startStored } from "../start-waiting.ts";
import type { CallStorage } from "../storage.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import { appendCallEvent } from "../../store/calls/call-events.ts";
import {
  getCallForJoin,
  listUnfinishedCalls,
  type CallForJoin,
  type UnfinishedCall,
} from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";
import type { NodeBoot } from "../../store/nodes/node-claims.ts";
import { countOrphans, markOrphans } from "../../store/snapshots/orphans.ts";

export interface RecoveryDeps {
  readonly db: Db;
  readonly boot: NodeBoot;
  readonly liveCalls: LiveCalls;
  readonly storage: CallStorage;
  readonly endCall: EndCall;
  readonly logger: Logger;
  /** Calls whose records, with their end, still wait in the journal. */
  readonly journaled: readonly string[];
}

/**
 * Calls that were joined wait for the return of their clients where they have a snapshot, else they are ended with
 * `system_error`. Those that still may be joined wait for it again, the rest are `unjoined`.
 */
export async function recoverCalls(deps: RecoveryDeps): Promise<void> {
  const waiting: string[] = [];
  const { boot, journaled } = deps;
  await markOrphans(deps.db, { boot, trustsLeases: false });
  const orphaned = await countOrphans(deps.db, boot.nodeId);
  if (orphaned > 0)
    deps.logger.warn({ calls: orphaned }, "calls of a process that is gone wait for their clients");
  let ended = 0;
  for (;;) {
    const calls = await listUnfinishedCalls(deps.db, boot.nodeId, [...waiting, ...journaled]);
    if (calls.length === 0) break;
    for (const call of calls) {
      const stored = await readLostCall(deps, call);
      if (stored !== null && resumeWaiting(deps, stored)) waiting.push(call.callId);
      else {
        await endLost(deps, call, stored);
        ended += 1;
      }
    }
  }
  if (ended + waiting.length > 0) {
    const fields = { ended, waiting: waiting.length };
    deps.logger.warn(fields, "calls from before this start were ended or wait for their join again");
  }
}

/** Null when the record cannot be read: such a call is ended, and does not block the others. */
export async function readLostCall(
  { db, logger }: { readonly db: Db; readonly logger: Pick<Logger, "error"> },
  { callId }: UnfinishedCall,
): Promise<CallForJoin | null> {
  try {
    return await getCallForJoin(db, callId);
  } catch (error) {
    logger.error({ callId, error: String(error) }, "the record of a call that was cut off cannot be read");
    return null;
  }
}

function resumeWaiting({ liveCalls, storage, logger }: RecoveryDeps, stored: CallForJoin): boolean {
  try {
    const outcome = startStored({ liveCalls, storage }, stored);
    if (outcome === "over") return false;
    if (outcome !== "started") throw new Error(`the process is ${outcome}`);
    return true;
  } catch (error) {
    const { callId } = stored;
    logger.warn({ callId, error: String(error) }, "a call that waited for its join cannot continue");
    return false;
  }
}

/** The time in which no process ran the call counts only as far as the call could have lasted. */
async function endLost(
  { db, endCall }: RecoveryDeps,
  call: UnfinishedCall,
  stored: CallForJoin | null,
): Promise<void> {
  const goneAtMs = stored?.readAtMs ?? Date.now();
  await endLostCall({ db, endCall }, call, stored, { goneAtMs, found: "found after a restart" });
}

export interface LossOfCall {
  /** The latest moment, ms since 1970, at which the call can have been alive. */
  readonly goneAtMs: number;
  /** How the loss was detected. */
  readonly found: string;
  /** Of a joined call. Unset: `system_error`. */
  readonly endReason?: EndReason;
  /** What it has used of its engines. Null or unset: nothing, or nobody knows. */
  readonly use?: CallUseRecord | null;
}

/** Ends a call that no process runs any more, once, and records that in its events. */
export async function endLostCall(
  { db, endCall }: Pick<RecoveryDeps, "db" | "endCall">,
  call: UnfinishedCall,
  stored: CallForJoin | null,
  { goneAtMs, found, endReason: given = "system_error", use = null }: LossOfCall,
): Promise<boolean> {
  const { joinedAtMs } = call;
  const missedJoin = joinedAtMs === null && stored !== null && stored.joinDeadlineMs <= goneAtMs;
  const endReason = missedJoin ? "unjoined" : given;
  const latestMs =
    joinedAtMs === null
      ? (stored?.joinDeadlineMs ?? goneAtMs)
      : joinedAtMs + (Number(stored?.plan["maxDurationMs"]) || Number.POSITIVE_INFINITY);
  const endedAtMs = Math.max(joinedAtMs ?? call.createdAtMs, Math.min(goneAtMs, latestMs));
  const end = { endReason, endedAtMs, use } as const;
  const ended = await endCall(call.accountId, call.callId, end, db);
  const stageId = (stored?.plan["stage"] as { stageId?: unknown } | undefined)?.stageId;
  if (!ended || typeof stageId !== "string") return ended;
  await appendCallEvent(db, call.accountId, call.callId, {
    stageId,
    callTimestampMs: 0,
    wallClockTimestampMs: joinedAtMs === null ? null : endedAtMs - joinedAtMs,
    severity: missedJoin ? "info" : "error",
    type: "call.ended",
    text: `the call ended: ${endReason}, ${found}`,
    extras: { reason: endReason },
  });
  return ended;
}
