import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { contextOf, keyColumnsOf, SEALED_COLUMNS, type SealedColumn } from "../secrets/sealed-columns.ts";

/** What an account has in a sealed column, opened, in the order of the rows' keys. */
export async function openedTexts(
  db: Db,
  accountId: string,
  { table, column }: Pick<SealedColumn, "table" | "column">,
): Promise<string[]> {
  const place = SEALED_COLUMNS.find((one) => one.table === table && one.column === column);
  if (place === undefined) throw new Error(`${table}.${column} is no sealed column.`);
  const keys = sql.join(keyColumnsOf(place).map((name) => sql.ref(name)));
  const read = await sql<Record<string, unknown> & { readonly sealed: string }>`
    select ${keys}, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where account_id = ${accountId} order by ${keys}`.execute(db.query);
  return read.rows.map((row) => db.sealer.open(row.sealed, contextOf(place, row)));
}
