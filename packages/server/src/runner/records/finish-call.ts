/** Closes a call that is over: its recording, its last record, its connection. */

import type { EndedRecord } from "./call-records.ts";
import type { CallLogger } from "../call-deps.ts";
import type { Clock } from "../../pacing/clock.ts";
import type { DataChannel } from "../data-connection/data-channel.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { RecordQueue } from "./record-queue.ts";
import type { Recorder } from "../speech/recorder.ts";
import type { CallUse } from "../use/call-use.ts";
import { within } from "../../pacing/within.ts";

/** Wait for the recording's last block; a disk that is stuck must not delay the end. */
export const RECORDING_CLOSE_LIMIT_MS = 2_000;
/** Wait for requests that were aborted; lists of engines notice that some microtasks later. */
const USE_LIMIT_MS = 500;
/** Wait for the connection to be closed; transports close within two seconds by themselves. */
export const TRANSPORT_CLOSE_LIMIT_MS = 2_500;

export interface CallRemains {
  readonly callId: string;
  readonly clock: Clock;
  readonly logger: Pick<CallLogger, "warn" | "error">;
  readonly records: RecordQueue;
  readonly use: CallUse;
  readonly recorder: Recorder | null;
  readonly dataChannel: DataChannel | null;
  /** Resolves when the connection is gone. */
  readonly disconnected: Promise<void>;
}

/** Never rejects. */
export async function finishCall(remains: CallRemains, ended: Omit<EndedRecord, "use">): Promise<void> {
  const { callId, clock, logger, records, recorder } = remains;
  const closed = within(clock, remains.disconnected, TRANSPORT_CLOSE_LIMIT_MS);
  const parted = remains.dataChannel?.close() ?? null;
  if (recorder !== null) {
    const failure = await within(clock, recorder.close(), RECORDING_CLOSE_LIMIT_MS);
    if (failure !== null)
      logger.error({ callId, error: messageOf(failure) }, "the recording is not complete");
  }
  const uncounted = await within(clock, remains.use.settled(), USE_LIMIT_MS);
  if (uncounted !== null) logger.warn({ callId }, "requests to engines did not end, and are not counted");
  await records.end({ ...ended, use: remains.use.close() });
  await closed;
  const left = await parted;
  if (left !== null) logger.warn({ callId, error: messageOf(left) }, "the data connection did not close");
}
