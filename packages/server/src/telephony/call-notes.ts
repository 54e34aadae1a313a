/** Events of calls that come from a carrier, written beside the engine: most of them before anybody has joined. */

import { createHash } from "node:crypto";
import type { Db } from "../store/database/db.ts";
import { appendCallEvent, type Severity } from "../store/calls/call-events.ts";
import { firstStageOf } from "../store/calls/stages.ts";

export interface CallNote {
  readonly severity: Severity;
  readonly type:
    "telephony.failed" | "telephony.machine_detected" | "sip.failed" | "sip.answered" | "sip.ended";
  readonly text: string;
  readonly extras: object | null;
}

/** Writes a note once, however often its callback comes. False: it is there, or the call is not. */
export async function noteInCall(
  db: Db,
  accountId: string,
  callId: string,
  note: CallNote,
): Promise<boolean> {
  const stageId = await firstStageOf(db, accountId, callId);
  if (stageId === null) return false;
  const event = { ...note, stageId, callTimestampMs: 0, wallClockTimestampMs: null };
  return appendCallEvent(db, accountId, callId, event, keyOf(callId, note));
}

/** A UUID that is the same for the same note. */
function keyOf(callId: string, { type, text }: CallNote): string {
  const hex = createHash("sha256").update(`${callId} ${type} ${text}`).digest("hex");
  const variant = `8${hex.slice(17, 20)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, variant, hex.slice(20, 32)].join("-");
}
