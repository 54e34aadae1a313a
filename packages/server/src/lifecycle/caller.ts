/** Whom a call is with, as far as the call says. */

import type { CallRow } from "../store/calls/calls.ts";

/** Longer names are cut: lists show one line. */
const LONGEST_CALLER = 100;

/**
 * Names of metadata and of fields of the carrier's request that say who the other side is, the best first. Case and
 * the signs `_`, `-` and `.` do not matter.
 */
const CALLER_NAMES = [
  "caller",
  "callername",
  "callernumber",
  "callerid",
  "from",
  "fromnumber",
  "phone",
  "phonenumber",
  "customer",
  "customername",
  "customerid",
  "user",
  "username",
  "userid",
  "email",
  "identity",
  "name",
];

/** The number that the service dials; else what the carrier's request or the metadata names. Null: nothing does. */
export function callerOf({
  settings,
  requestContext,
  metadata,
}: Pick<CallRow, "settings" | "requestContext" | "metadata">): string | null {
  const found = dialledNumber(settings["medium"]) ?? namedInRequest(requestContext) ?? namedIn(metadata);
  return found === null ? null : found.slice(0, LONGEST_CALLER).toWellFormed();
}

function dialledNumber(medium: unknown): string | null {
  for (const kind of Object.values(asRecord(medium))) {
    const to = asRecord(asRecord(kind)["outgoing"])["to"];
    if (typeof to === "string" && to.trim() !== "") return to.trim();
  }
  return null;
}

/** The fields of a carrier's request are under the name of the carrier. */
function namedInRequest(requestContext: unknown): string | null {
  for (const fields of [requestContext, ...Object.values(asRecord(requestContext))]) {
    const found = namedIn(fields);
    if (found !== null) return found;
  }
  return null;
}

function namedIn(values: unknown): string | null {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(asRecord(values))) {
    if (typeof value !== "string" || value.trim() === "") continue;
    found.set(name.toLowerCase().replaceAll(/[_.-]/g, ""), value.trim());
  }
  for (const name of CALLER_NAMES) {
    const value = found.get(name);
    if (value !== undefined) return value;
  }
  return null;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
