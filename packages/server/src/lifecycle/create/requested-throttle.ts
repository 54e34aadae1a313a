/** Finds the call throttle that a request names. */

import type { FieldError } from "@parley/schema";

/** By id, or by a name that only one of the account's throttles has. */
export type FindThrottle = (
  accountId: string,
  nameOrId: string,
) => Promise<{ readonly throttleId: string } | "unknown" | "ambiguous">;

export interface RequestedThrottle {
  /** Null: none was requested, or none was found. */
  readonly throttleId: string | null;
  readonly errors: readonly FieldError[];
}

export const UNKNOWN_THROTTLE: FieldError = { field: "throttle", message: "is not a known throttle" };
const AMBIGUOUS_THROTTLE: FieldError = {
  field: "throttle",
  message: "is the name of more than one throttle; give its id",
};

export async function throttleOf(
  accountId: string,
  throttle: string | undefined,
  findThrottle: FindThrottle,
): Promise<RequestedThrottle> {
  if (throttle === undefined) return { throttleId: null, errors: [] };
  const found = await findThrottle(accountId, throttle);
  if (typeof found !== "string") return { throttleId: found.throttleId, errors: [] };
  return { throttleId: null, errors: [found === "unknown" ? UNKNOWN_THROTTLE : AMBIGUOUS_THROTTLE] };
}
