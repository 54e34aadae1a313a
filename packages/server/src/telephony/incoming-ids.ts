/**
 * The ids of calls that come in. They are made from the carrier's id of the call, so that a webhook that comes twice, also
 * at two processes, creates one call: the second record has the key of the first. Pure.
 */

import { uuidOf } from "./uuids.ts";

export interface AnnouncedCall {
  readonly accountId: string;
  readonly agentId: string;
  readonly carrier: string;
  /** The carrier's id. */
  readonly carrierCallId: string;
}

/**
 * Calls of one agent that a carrier's call may have one after the other: instructions of the user may bring the caller
 * back to the agent after the end of a call.
 */
export const MAX_CALLS_OF_ONE = 20;

/**
 * A webhook that comes this long after the first call of the carrier's call creates none: no carrier has longer calls, so
 * somebody repeats an old one. Two of the carriers sign no time.
 */
export const LONGEST_CARRIER_CALL_MS = 86_400_000;

/** @param nth 0: the first call of this agent within the carrier's call */
export function incomingCallId(announced: AnnouncedCall, nth: number): string {
  const { accountId, agentId, carrier, carrierCallId } = announced;
  const named = ["incoming call", accountId, agentId, carrier, carrierCallId, String(nth)];
  return uuidOf(JSON.stringify(named));
}
