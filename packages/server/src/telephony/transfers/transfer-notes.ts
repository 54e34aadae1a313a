/** Events of a call about its transfers. They are written beside the engine, with the time of the call. */

import { firstStageOf } from "../../store/calls/stages.ts";
import { appendCallEvent, type Severity } from "../../store/calls/call-events.ts";
import { getCall } from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";

export interface TransferNote {
  readonly severity: Severity;
  /** `telephony.failed` and `sip.transfer_failed` for everything that prevents a transfer. */
  readonly type:
    | "telephony.failed"
    | "telephony.transferring"
    | "telephony.transferred"
    | "sip.transferring"
    | "sip.consulting"
    | "sip.transferred"
    | "sip.transfer_failed"
    | "sip.hold_music_failed";
  readonly text: string;
  readonly extras: object;
}

export async function noteTransfer(
  { db, nowMs }: { readonly db: Db; readonly nowMs: () => number },
  accountId: string,
  callId: string,
  note: TransferNote,
): Promise<void> {
  const [stageId, call] = [await firstStageOf(db, accountId, callId), await getCall(db, accountId, callId)];
  if (stageId === null || call === null) return;
  const sinceJoinMs = call.joinedAt === null ? null : Math.max(0, nowMs() - Date.parse(call.joinedAt));
  await appendCallEvent(db, accountId, callId, {
    ...note,
    stageId,
    callTimestampMs: sinceJoinMs ?? 0,
    wallClockTimestampMs: sinceJoinMs,
  });
}
