/** Events of calls that come from a carrier, written beside the engine: most of them before anybody has joined. */

import type { Db } from "../store/database/db.ts";
import { appendFirstStageEvent, type Severity } from "../store/calls/call-events.ts";
import { uuidOf } from "./uuids.ts";

export interface CallNote {
  readonly severity: Severity;
  readonly type:
    | "telephony.failed"
    | "telephony.machine_detected"
    | "sip.failed"
    | "sip.answered"
    | "sip.ended"
    | "sip.unencrypted"
    | "sip.media";
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
  const event = { ...note, callTimestampMs: 0, wallClockTimestampMs: null };
  return appendFirstStageEvent(db, accountId, callId, event, uuidOf(`${callId} ${note.type} ${note.text}`));
}
