/** Whether a number may be dialled now: the do-not-call list, and the calling hours of the person called (D173). */

import { dialledAddress } from "@parley/schema";
import type { BatchExtensions } from "../../store/database/tables/batches.ts";
import type { Db } from "../../store/database/db.ts";
import { isOnDoNotCall } from "../../store/batches/do-not-call.ts";
import { untilCallable } from "./calling-hours.ts";
import { zonesOfNumber } from "./number-zones.ts";

export type Permission =
  | { readonly kind: "now" }
  /** Applies to this call alone. */
  | { readonly kind: "later"; readonly waitMs: number }
  | { readonly kind: "never"; readonly reason: string };

const NOW: Permission = { kind: "now" };
const E164 = /^\+\d+$/;

/** The spellings of a dialled number or address: a SIP URI of a phone number is that number as well. */
export function spellingsOf(to: string): readonly string[] {
  const address = dialledAddress(to);
  if (address === null) return [];
  const user = /^sips?:([^@]+)@/.exec(address)?.[1] ?? "";
  return [...new Set([address, dialledAddress(user) ?? address])];
}

/** Ms until a batch with its own time zone may continue; 0: it may now. */
export function batchWaitMs({ callingHours }: BatchExtensions, nowMs: number): number {
  if (callingHours === undefined || callingHours.timeZone === "callee") return 0;
  return untilCallable(callingHours, [callingHours.timeZone], nowMs) ?? 0;
}

export async function diallingPermission(
  db: Db,
  accountId: string,
  to: string,
  extensions: BatchExtensions,
  nowMs: number,
): Promise<Permission> {
  const spellings = spellingsOf(to);
  if (extensions.respectDoNotCall ?? true) {
    const listed = await isOnDoNotCall(db, accountId, spellings.length === 0 ? "any" : spellings);
    if (listed && spellings.length > 0)
      return { kind: "never", reason: "the number is on the do-not-call list" };
    if (listed) {
      const reason =
        "the number is neither in E.164 form nor a SIP URI, so it cannot be compared with the do-not-call list";
      return { kind: "never", reason };
    }
  }
  return hoursOfCallee(spellings, extensions, nowMs);
}

function hoursOfCallee(
  spellings: readonly string[],
  { callingHours }: BatchExtensions,
  nowMs: number,
): Permission {
  if (callingHours?.timeZone !== "callee") return NOW;
  const number = spellings.find((spelling) => E164.test(spelling));
  const zones = number === undefined ? null : zonesOfNumber(number);
  if (zones === null)
    return { kind: "never", reason: "callingHours: the time zone of the number is not known" };
  const waitMs = untilCallable(callingHours, zones, nowMs);
  if (waitMs === null) {
    const reason = "callingHours: no time is within them in all time zones that the number may be in";
    return { kind: "never", reason };
  }
  return waitMs === 0 ? NOW : { kind: "later", waitMs };
}
