/** Points in time as input: ISO 8601 in several forms, read to UTC with milliseconds. */

import { z } from "zod";

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/;
const OFFSET = /(?:Z|[+-]\d\d:?\d\d)$/;
/** Basic format, which ISO 8601 has beside that with a colon. */
const SHORT_OFFSET = /([+-]\d\d)(\d\d)$/;

/** Databases have no year 0; printed moments of four-digit years sort as texts. */
const FIRST_MOMENT = "0001-01-01T00:00:00.000Z";

/** The moment as `toISOString` prints it, or null. */
function dateTimeOf(text: string): string | null {
  if (!DATE_TIME.test(text)) return null;
  const ms = Date.parse(OFFSET.test(text) ? text.replace(SHORT_OFFSET, "$1:$2") : `${text}Z`);
  if (Number.isNaN(ms)) return null;
  // `2026-02-30` is read as 2 March by some engines; a date must stay what it was.
  const day = Date.parse(`${text.slice(0, 10)}T00:00:00Z`);
  if (Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== text.slice(0, 10)) return null;
  const moment = new Date(ms).toISOString();
  // Offsets can lead out of the years that four digits hold.
  return DATE_TIME.test(moment) && moment >= FIRST_MOMENT ? moment : null;
}

/** The same for a bare date as well, which means its `edge`, UTC. */
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
