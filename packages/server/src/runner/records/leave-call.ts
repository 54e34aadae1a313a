/** Gives a call up that another process is to continue. Decision 60. */

import { messageOf } from "../../pacing/error-text.ts";
import { within } from "../../pacing/within.ts";
import { CODES } from "../call-ends.ts";
import type { Connection } from "../call-listener.ts";
import { RECORDING_CLOSE_LIMIT_MS, TRANSPORT_CLOSE_LIMIT_MS, type CallRemains } from "./finish-call.ts";

/** One statement; a database that takes longer is treated as failing. */
const RELEASE_LIMIT_MS = 2_000;

/**
 * Whether any process may take the call up now. Otherwise its last snapshot could not be stored, and the call waits until
 * this process is gone, as after a crash. Never rejects.
 * @param connection closed once the call is given up, so that its client does not come back before
 */
export async function leaveCall(remains: CallRemains, connection: Connection | null): Promise<boolean> {
  const { callId, clock, logger, recorder, records } = remains;
  const parted = remains.dataChannel?.close() ?? null;
  // At the same node the next process writes on in the same file.
  const recorded = recorder === null ? null : within(clock, recorder.close(), RECORDING_CLOSE_LIMIT_MS);
  const failed = await within(clock, records.release(), RELEASE_LIMIT_MS);
  if (failed !== null) {
    const error = messageOf(failed);
    logger.warn({ callId, error }, "a call could not be given up, and waits for the end of this process");
  }
  const failure = await recorded;
  if (failure !== null) logger.error({ callId, error: messageOf(failure) }, "the recording is not complete");
  goOnElsewhere(connection);
  await within(clock, remains.disconnected, TRANSPORT_CLOSE_LIMIT_MS);
  const left = await parted;
  if (left !== null) logger.warn({ callId, error: messageOf(left) }, "the data connection did not close");
  return failed === null;
}

/** Another process has taken the call: nothing more is written about it. */
export function abandonCall(
  { records, recorder, dataChannel }: CallRemains,
  connection: Connection | null,
): void {
  goOnElsewhere(connection);
  records.drop();
  void recorder?.close().catch(() => undefined);
  void dataChannel?.close();
}

function goOnElsewhere(connection: Connection | null): void {
  connection?.transport?.close(CODES.restarting, "another process continues the call");
}
