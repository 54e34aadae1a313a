/** The refusals of joins, for every medium. */

import { ApiError } from "@parley/schema";
import type { JoinLookup } from "../../joins/api.ts";

/** Retry-After for clients that are refused because the service is draining or full. */
const RETRY_AFTER_SECONDS = 2;

/** Throws ApiError for a join that is refused before there is a connection. */
export function checkJoin(
  found: JoinLookup,
  { draining, closing }: { readonly draining: boolean; readonly closing: boolean },
): void {
  if (found === "not_found") throw unknownAddress();
  // While draining, a call that waits for its join is released and resumed by the next start, so clients retry then.
  if (found === "gone" && draining) throw noCapacity("The service is shutting down");
  if (found === "gone") throw expired();
  if (closing || (draining && found === "ok")) throw noCapacity("The service is shutting down");
}

export function expired(): ApiError {
  const detail = "This join URL is no longer valid: the call has ended or was not joined in time.";
  return new ApiError("gone", detail);
}

export function unknownAddress(): ApiError {
  return new ApiError("not_found", "There is no call at this address.");
}

export function noCapacity(reason: string): ApiError {
  const detail = `${reason}; try again shortly.`;
  return new ApiError("no_capacity", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
