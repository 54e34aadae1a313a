/** Numbers that no scheduled call of an account may dial, in the spelling of `dialledAddress`. */

import { sql } from "kysely";
import { creationTime } from "./creation-time.ts";
import type { Db } from "./db.ts";
import { toStorableText } from "./json-text.ts";
import { readPage, type PageQuery, type PageRows } from "./page.ts";
import { likePattern, searchText } from "./search-text.ts";

export interface DoNotCallRow {
  readonly number: string;
  readonly note: string | null;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
}

const doNotCallColumns = sql`number, note, created_at as "createdAt"`;

/** A number that is there already keeps its place in the list and takes the new note. */
export async function addDoNotCall(
  db: Db,
  accountId: string,
  { number, note }: { readonly number: string; readonly note: string | null },
): Promise<DoNotCallRow> {
  const stored = note === null ? null : toStorableText(note);
  const written = await sql<DoNotCallRow>`
    insert into do_not_call (account_id, number, note, search_text, created_at)
    values (${accountId}, ${number}, ${stored}, ${searchText([number, note ?? ""])}, ${creationTime()})
    on conflict (account_id, number) do update set note = excluded.note, search_text = excluded.search_text
    returning ${doNotCallColumns}`.execute(db.query);
  const [row] = written.rows;
  if (row === undefined) throw new Error("a number was stored without a row");
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
  return readPage<DoNotCallRow>(
    db,
    {
      columns: doNotCallColumns,
      from: sql`do_not_call`,
      where: [
        sql`account_id = ${accountId}`,
        ...(search === undefined ? [] : [sql`search_text like ${likePattern(searchText([search]))}`]),
      ],
      sort: sql`created_at`,
      sortType: "timestamptz",
      id: sql`number`,
      idType: "text",
      descending: true,
    },
    page,
  );
}

/** False: the number is not on the list. */
export async function deleteDoNotCall(db: Db, accountId: string, number: string): Promise<boolean> {
  const deleted = await sql`
    delete from do_not_call where account_id = ${accountId} and number = ${number} returning number`.execute(
    db.query,
  );
  return deleted.rows.length === 1;
}

/** Whether one of these spellings of who is to be dialled is on the list; `any`: whether anybody is. */
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
