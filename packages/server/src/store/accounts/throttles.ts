/** Call throttles: rate limits that a request for a call can name. `admission.ts` applies them. */

import { randomUUID } from "node:crypto";
import type { ThrottleRule } from "@parley/schema";
import { sql } from "kysely";
import { creationTime } from "../database/creation-time.ts";
import type { Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import { newestFirst, readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { selectList, type Selected } from "../database/select-list.ts";

export interface ThrottleRow {
  readonly throttleId: string;
  readonly name: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
  readonly rules: readonly ThrottleRule[];
}

export interface NewThrottle {
  readonly name: string;
  readonly rules: readonly ThrottleRule[];
}

/** An absent member stays as it is. */
export interface ThrottlePatch {
  readonly name?: string | undefined;
  readonly rules?: readonly ThrottleRule[] | undefined;
}

const throttleColumns = selectList("call_throttles", {
  throttleId: "id",
  name: "name",
  createdAt: "created_at",
  rules: "rules",
});

type ThrottleColumns = Selected<typeof throttleColumns>;

export async function createThrottle(
  db: Db,
  accountId: string,
  { name, rules }: NewThrottle,
): Promise<ThrottleRow> {
  const made = await sql<ThrottleColumns>`
    insert into call_throttles (id, account_id, name, created_at, rules)
    values (${randomUUID()}, ${accountId}, ${toStorableText(name)}, ${creationTime()}, ${toJsonText(rules)}::json)
    returning ${throttleColumns}`.execute(db.query);
  const [row] = made.rows;
  if (row === undefined) throw new Error("the inserted throttle was not returned");
  return row;
}

export async function getThrottle(
  db: Db,
  accountId: string,
  throttleId: string,
): Promise<ThrottleRow | null> {
  const read = await sql<ThrottleColumns>`
    select ${throttleColumns} from call_throttles
    where id = ${throttleId} and account_id = ${accountId}`.execute(db.query);
  return read.rows[0] ?? null;
}

/** Newest first. */
export async function listThrottles(
  db: Db,
  accountId: string,
  page: PageQuery,
): Promise<PageRows<ThrottleRow>> {
  return readPage<ThrottleColumns>(
    db,
    {
      columns: throttleColumns,
      from: sql`call_throttles`,
      where: [sql`account_id = ${accountId}`],
      ...newestFirst,
    },
    page,
  );
}

/** Calls that were already admitted count under the new rules as well. Null: the account has no such throttle. */
export async function updateThrottle(
  db: Db,
  accountId: string,
  throttleId: string,
  { name, rules }: ThrottlePatch,
): Promise<ThrottleRow | null> {
  const changed = await sql<ThrottleColumns>`
    update call_throttles set name = coalesce(${name === undefined ? null : toStorableText(name)}, name),
      rules = coalesce(${rules === undefined ? null : toJsonText(rules)}::json, rules)
    where id = ${throttleId} and account_id = ${accountId} returning ${throttleColumns}`.execute(db.query);
  return changed.rows[0] ?? null;
}

/** False: the account has no such throttle. */
export async function deleteThrottle(db: Db, accountId: string, throttleId: string): Promise<boolean> {
  const deleted = await db.query
    .deleteFrom("call_throttles")
    .where("id", "=", throttleId)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return deleted.numDeletedRows === 1n;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** `ambiguous`: the account has more than one throttle of this name. */
export type FoundThrottle = ThrottleRow | "unknown" | "ambiguous";

/** The throttle with this id (in any case), or else the one with exactly this name. */
export async function findThrottle(db: Db, accountId: string, nameOrId: string): Promise<FoundThrottle> {
  const id = nameOrId.toLowerCase();
  const byId = UUID.test(id) ? await getThrottle(db, accountId, id) : null;
  if (byId !== null) return byId;
  const read = await sql<ThrottleColumns>`
    select ${throttleColumns} from call_throttles
    where account_id = ${accountId} and name = ${toStorableText(nameOrId)} limit 2`.execute(db.query);
  const [first, second] = read.rows;
  if (first === undefined) return "unknown";
  return second === undefined ? first : "ambiguous";
}
