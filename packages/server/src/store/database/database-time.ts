/**
 * Times that delete, expire or claim something are those of the database, which all nodes share. The clock of a node may
 * be wrong.
 */

import { sql, type RawBuilder } from "kysely";

/** A moment as SQL. */
export type SqlTime = RawBuilder<unknown>;

/** Stable within a statement, so that an index can be searched by it. Unlike `now()` it advances within a transaction. */
export const databaseTime: SqlTime = sql`statement_timestamp()`;

/** For tests, and for times that a request or a record names. */
export function fixedTime(atMs: number): SqlTime {
  return sql`${new Date(atMs)}::timestamptz`;
}

/** `ms` may be negative. */
export function laterBy(time: SqlTime, ms: number): SqlTime {
  return sql`(${time} + ${ms}::float8 * interval '1 millisecond')`;
}

const DAY_MS = 86_400_000;

/** For retention: rows from before it are too old. */
export function daysBefore(time: SqlTime, days: number): SqlTime {
  return laterBy(time, -days * DAY_MS);
}
