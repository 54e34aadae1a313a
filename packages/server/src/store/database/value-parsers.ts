/**
 * How values are read from both databases: dates as ISO 8601 UTC with milliseconds, `bigint` and `numeric` as numbers
 * (all are below 2^53), JSON as values, everything else as `pg` parses it.
 */

import { types, type CustomTypesConfig } from "pg";

const BIGINT = 20;
const NUMERIC = 1700;
const TIMESTAMP_WITH_TIME_ZONE = 1184;

export function isoDate(text: string): string {
  const utc = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00$/.exec(text);
  if (utc === null) return text === "infinity" || text === "-infinity" ? text : isoOfOtherZone(text);
  return `${utc[1]}T${utc[2]}.${(utc[3] ?? "").padEnd(3, "0")}Z`;
}

/** `2026-01-02 05:04:05.6+02` and `…+05:30`: sessions are set to UTC, but a pooler in between may change that. */
function isoOfOtherZone(text: string): string {
  const withMinutes = /[+-]\d\d$/.test(text) ? `${text}:00` : text;
  return new Date(withMinutes.replace(" ", "T")).toISOString();
}

const parsers = new Map<number, (text: string) => unknown>([
  [BIGINT, Number],
  [NUMERIC, Number],
  [TIMESTAMP_WITH_TIME_ZONE, isoDate],
]);

export const valueParsers: CustomTypesConfig = {
  getTypeParser: (oid: Parameters<typeof types.getTypeParser>[0], format?: string) => {
    const own = format === "binary" ? undefined : parsers.get(oid);
    // The signature of pg is generic over text and binary; both of ours read text.
    return (own ?? types.getTypeParser(oid, format === "binary" ? "binary" : "text")) as never;
  },
};
