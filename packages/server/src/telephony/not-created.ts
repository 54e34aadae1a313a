/** Why a call was not created, in one line: for logs, and for the model of another call. */

import type { NotCreated } from "../lifecycle/api.ts";

/** Where a limit was reached, its name. */
export function reasonOf(outcome: NotCreated): string {
  if ("reason" in outcome) return outcome.reason;
  if ("errors" in outcome) {
    return outcome.errors.map(({ field, message }) => `${field} ${message}`).join("; ");
  }
  return outcome.limit;
}
