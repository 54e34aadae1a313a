/** The call throttle that a request names. */

import type { FieldError } from "@parley/schema";

/** By id, or by a name that only one of the account's throttles has. */
export type FindThrottle = (
  accountId: string,
  nameOrId: string,
) => Promise<{ readonly throttleId: string } | "unknown" | "ambiguous">;

export interface AskedThrottle {
  /** Null: none was asked for, or none was found. */
  readonly throttleId: string | null;
  readonly errors: readonly FieldError[];
}

export async function throttleOf(
  accountId: string,
  throttle: string | undefined,
  findThrottle: FindThrottle,
): Promise<AskedThrottle> {
  if (throttle === undefined) return { throttleId: null, errors: [] };
  const found = await findThrottle(accountId, throttle);
  if (typeof found !== "string") return { throttleId: found.throttleId, errors: [] };
  const message =
    found === "unknown" ? "is not a known throttle" : "is the name of more than one throttle; give its id";
  return { throttleId: null, errors: [{ field: "throttle", message }] };
}
