/**
 * Why somebody was not reached, in words for the model. Reason phrases come from the network, so they are not part of
 * them; events of the call have them.
 */

import type { SipTermination } from "@parley/schema";

const BY_TERMINATION: Readonly<Record<SipTermination, string>> = {
  NORMAL: "the called person has hung up",
  INVALID_NUMBER: "the number or address does not exist",
  TIMEOUT: "nobody answered",
  DESTINATION_UNAVAILABLE: "the destination cannot be reached",
  BUSY: "the line was busy",
  CANCELED: "the call was canceled",
  REJECTED: "the call was refused",
  UNKNOWN: "the call could not be connected",
};

export function wordsOf(termination: SipTermination): string {
  return BY_TERMINATION[termination];
}

const BY_STATUS: ReadonlyMap<number, SipTermination> = new Map([
  [404, "INVALID_NUMBER"],
  [408, "TIMEOUT"],
  [480, "TIMEOUT"],
  [484, "INVALID_NUMBER"],
  [486, "BUSY"],
  [600, "BUSY"],
  [604, "INVALID_NUMBER"],
]);

/** Of the call that the other side has made in our place. */
export function wordsOfStatus(status: number): string {
  const known = BY_STATUS.get(status);
  if (known !== undefined) return wordsOf(known);
  return wordsOf(status >= 500 && status < 600 ? "DESTINATION_UNAVAILABLE" : "REJECTED");
}
