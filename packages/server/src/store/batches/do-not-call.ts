/**
 * The do-not-call list of an account: numbers that its scheduled calls must not dial, as `dialledAddress` writes them.
 */

import { sql } from "kysely";
import { creationTime } from "../database/creation-time.ts";
import type { Db } from "../database/db.ts";
import { toStorableText } from "../database/json-text.ts";
import { newestFirst, readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { likePattern, searchText } from "../database/search-text.ts";
import { selectList, type Selected } from "../database/select-list.ts";

export interface DoNotCallRow {
  readonly number: string;
  readonly note: string | null;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
}

const doNotCallColumns = selectList("do_not_call", {
  number: "number",
  note: "note",
  createdAt: "created_at",
});

type DoNotCallColumns = Selected<typeof doNotCallColumns>;

/** A number that is already listed keeps its place and gets the new note. */
export async function addDoNotCall(
  db: Db,
  accountId: string,
  { number, note }: { readonly number: string; readonly note: string | null },
): Promise<DoNotCallRow> {
  const stored = note === null ? null : toStorableText(note);
  const written = await sql<DoNotCallColumns>`
    insert into do_not_call (account_id, number, note, search_text, created_at)
    values (${accountId}, ${number}, ${stored}, ${searchText([number, note ?? ""])}, ${creationTime()})
    on conflict (account_id, number) do update set note = excluded.note, search_text = excluded.search_text
    returning ${doNotCallColumns}`.execute(db.query);
  const [row] = written.rows;
  if (row === undefined) throw new Error("the inserted number was not returned");
  return row;
}

/** `search`: part of the number or the note, whatever its case. Newest first. */
export async function listDoNotCall(
  db: Db,
  accountId: string,
  filter: { readonly search?: string | undefined },
  page: PageQuery,
): Promise<PageRows<DoNotCallRow>> {
  const { search } = filter;
  return readPage<DoNotCallColumns>(
    db,
    {
      columns: doNotCallColumns,
      from: sql`do_not_call`,
      where: [
        sql`account_id = ${accountId}`,
        ...(search === undefined ? [] : [sql`search_text like ${likePattern(searchText([search]))}`]),
      ],
      ...newestFirst,
      id: sql`number`,
      idType: "text",
    },
    page,
  );
}

/** False: the number is not on the list. */
export async function deleteDoNotCall(db: Db, accountId: string, number: string): Promise<boolean> {
  const deleted = await db.query
    .deleteFrom("do_not_call")
    .where("account_id", "=", accountId)
    .where("number", "=", number)
    .executeTakeFirst();
  return deleted.numDeletedRows === 1n;
}

/** Whether one of these spellings of a number is on the list; `any`: whether the list has any entry. */
export async function isOnDoNotCall(
  db: Db,
  accountId: string,
  numbers: readonly string[] | "any",
): Promise<boolean> {
  const which = numbers === "any" ? sql`true` : sql`number = any(${numbers}::text[])`;
  const found = await sql`
    select number from do_not_call where account_id = ${accountId} and ${which} limit 1`.execute(db.query);
  return found.rows.length === 1;
}
