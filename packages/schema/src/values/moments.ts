/** Points in time in input: several forms of ISO 8601, parsed to UTC with milliseconds. */

import { z } from "zod";

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/;
const OFFSET = /(?:Z|[+-]\d\d:?\d\d)$/;
/** Offset without a colon, the basic format of ISO 8601. */
const SHORT_OFFSET = /([+-]\d\d)(\d\d)$/;

/** Databases have no year 0; with four-digit years, printed times sort as text. */
const FIRST_MOMENT = "0001-01-01T00:00:00.000Z";

/** The point in time as `toISOString` prints it, or null. */
function dateTimeOf(text: string): string | null {
  if (!DATE_TIME.test(text)) return null;
  const ms = Date.parse(OFFSET.test(text) ? text.replace(SHORT_OFFSET, "$1:$2") : `${text}Z`);
  if (Number.isNaN(ms)) return null;
  // Some engines read `2026-02-30` as 2 March; such a date is refused.
  const day = Date.parse(`${text.slice(0, 10)}T00:00:00Z`);
  if (Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== text.slice(0, 10)) return null;
  const moment = new Date(ms).toISOString();
  // An offset can lead to a year with more or fewer than four digits.
  return DATE_TIME.test(moment) && moment >= FIRST_MOMENT ? moment : null;
}

/** Like `dateTimeOf`, and a bare date means the start or end of the day, UTC, by `edge`. */
function momentOf(text: string, edge: "first" | "last"): string | null {
  if (!DATE.test(text)) return dateTimeOf(text);
  return dateTimeOf(`${text}${edge === "first" ? "T00:00:00.000Z" : "T23:59:59.999Z"}`);
}

/** A date-time; parses to UTC with milliseconds. */
export const DateTime = z
  .string()
  .refine((text) => dateTimeOf(text) !== null, { error: "must be an ISO 8601 date-time" })
  .overwrite((text) => dateTimeOf(text) ?? text)
  .meta({ format: "date-time" });

/** A date or date-time; parses to a UTC date-time with milliseconds. */
export function moment(edge: "first" | "last") {
  return z
    .string()
    .refine((text) => momentOf(text, edge) !== null, { error: "must be an ISO 8601 date or date-time" })
    .overwrite((text) => momentOf(text, edge) ?? text)
    .meta({
      description: `A date or date-time; a bare date means its ${edge} moment and no offset means UTC.`,
    });
}

/** A day, such as 2026-01-31. */
export const CalendarDate = z
  .string()
  .refine((text) => DATE.test(text) && momentOf(text, "first") !== null, {
    error: "must be a date such as 2026-01-31",
  })
  .meta({ format: "date" });
