/** Reads a claimed call: its plan, its snapshot, and what was stored after it. */

import { SNAPSHOT_VERSION } from "../../call/adoption/snapshot.ts";
import type { MessageRecord } from "../../call/effects.ts";
import { parsePlan } from "../../plan/stored-plan.ts";
import type { CallPlan } from "../../plan/plan.ts";
import type { SnapshotRecord } from "../../runner/records/call-records.ts";
import type { ResumedCall } from "../../runner/resumed-call.ts";
import { getCallForJoin } from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";
import { readNewerRecords, type NewerMessage } from "../../store/snapshots/newer-records.ts";
import type { ClaimedCall } from "../../store/snapshots/orphans.ts";

export interface ReadCall {
  readonly plan: CallPlan;
  readonly createdAt: Date;
  readonly resumed: ResumedCall;
}

/** @throws when the plan or the snapshot cannot be read by this version */
export async function readSnapshot(db: Db, callId: string, claimed: ClaimedCall): Promise<ReadCall> {
  const stored = await getCallForJoin(db, callId);
  if (stored === null) throw new Error("the call was deleted");
  // Sealed by this service, so it has the shape that its version has.
  const { snapshot, counts, use } = JSON.parse(claimed.document) as SnapshotRecord;
  if (snapshot.version !== SNAPSHOT_VERSION) throw new Error("the snapshot is of another version");
  const newer = await readNewerRecords(db, stored.accountId, callId, counts.versions);
  return {
    plan: parsePlan(stored.plan),
    createdAt: new Date(stored.createdAtMs),
    resumed: {
      snapshot,
      recorded: newer.messages.map(recordOf),
      elapsedMs: claimed.elapsedMs,
      counts: { ...counts, versions: Math.max(counts.versions, newer.version) },
      use,
      eventLog: { chunks: newer.chunks, events: newer.events },
    },
  };
}

function recordOf(row: NewerMessage): MessageRecord {
  return {
    index: row.message_index,
    stageId: row.stage_id,
    role: row.role,
    text: row.text,
    medium: row.medium,
    invocationId: row.invocation_id,
    toolName: row.tool_name,
    errorDetails: row.error_details,
    callState: row.call_state,
    timespan: spanOf(row.start_ms, row.end_ms),
    wallClockTimespan: spanOf(row.wall_start_ms, row.wall_end_ms),
    metadata: row.metadata,
  };
}

function spanOf(startMs: number | null, endMs: number | null): MessageRecord["timespan"] {
  return startMs === null || endMs === null ? null : { startMs, endMs };
}
