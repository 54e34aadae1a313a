/** What the responses of SIP mean for a call. */

import type { SipTermination } from "@parley/schema";
import type { SipFailure } from "../user-agent.ts";

const BY_STATUS: ReadonlyMap<number, SipTermination> = new Map([
  [486, "BUSY"],
  [600, "BUSY"],
  [408, "TIMEOUT"],
  [480, "TIMEOUT"],
  [404, "INVALID_NUMBER"],
  [484, "INVALID_NUMBER"],
  [604, "INVALID_NUMBER"],
  [487, "CANCELED"],
]);

export function terminationOf({ cause, status }: Pick<SipFailure, "cause" | "status">): SipTermination {
  if (cause === "canceled") return "CANCELED";
  if (cause === "unreachable" || cause === "refused_target") return "DESTINATION_UNAVAILABLE";
  const known = BY_STATUS.get(status);
  if (known !== undefined) return known;
  if (status >= 500 && status < 600) return "DESTINATION_UNAVAILABLE";
  return status >= 400 ? "REJECTED" : "UNKNOWN";
}
