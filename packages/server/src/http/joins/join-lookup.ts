/** The refusals of joins, for every medium. */

import { ApiError } from "@parley/schema";
import type { JoinLookup } from "../../joins/api.ts";

/** Retry-After for clients that are refused because the service is full. */
const RETRY_AFTER_SECONDS = 2;
/** The same where this node is being stopped: the next request may reach another one. */
const STOPPING_RETRY_SECONDS = 1;
/** A lost client has ten seconds to return, and the next request may reach the right node. */
const ELSEWHERE_RETRY_SECONDS = 1;

/** Throws ApiError for a join that is refused before there is a connection. */
export function checkJoin(
  found: JoinLookup,
  { draining, closing }: { readonly draining: boolean; readonly closing: boolean },
): void {
  if (found === "not_found") throw unknownAddress();
  // While draining, a call that waits for its join is released and resumed by the next start, so clients retry then.
  if (found === "gone" && draining) throw stopping();
  if (found === "gone") throw expired();
  if (found === "draining") throw stopping();
  if (found === "full") throw noCapacity("This node has reached its limit of concurrent calls");
  if (found === "elsewhere" || found === "orphaned") throw runsElsewhere();
  if (closing || (draining && found === "ok")) throw stopping();
}

/** Another node, or the next start, takes the call. */
function stopping(): ApiError {
  return noCapacity("The service is shutting down", STOPPING_RETRY_SECONDS);
}

export function expired(): ApiError {
  const detail = "This join URL is no longer valid: the call has ended or was not joined in time.";
  return new ApiError("gone", detail);
}

/** The call has a node, which cannot take this request from here, or is gone. Never 410: the call has not ended. */
export function runsElsewhere(): ApiError {
  const detail =
    "The call runs on another node of the service, which cannot take this request now; try again shortly.";
  return new ApiError("call_elsewhere", detail, { retryAfterSeconds: ELSEWHERE_RETRY_SECONDS });
}

export function unknownAddress(): ApiError {
  return new ApiError("not_found", "There is no call at this address.");
}

export function noCapacity(reason: string, retryAfterSeconds = RETRY_AFTER_SECONDS): ApiError {
  const detail = `${reason}; try again shortly.`;
  return new ApiError("no_capacity", detail, { retryAfterSeconds });
}
