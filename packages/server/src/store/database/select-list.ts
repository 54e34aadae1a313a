/** Select lists of one table, typed by its columns. */

import { sql, type RawBuilder } from "kysely";
import type { Database, Row } from "./database.ts";

type Renamed<Table extends keyof Database, Names extends Readonly<Record<string, keyof Row<Table>>>> = {
  readonly [Name in keyof Names]: Row<Table>[Names[Name]];
};

/**
 * Columns under the names of a row: `{ callId: "id" }` selects `id as "callId"`. `alias` is the name of the table in
 * the statement.
 */
export function selectList<
  Table extends keyof Database,
  const Names extends Readonly<Record<string, keyof Row<Table> & string>>,
>(table: Table, names: Names, alias: string = table): RawBuilder<Renamed<Table, Names>> {
  const columns = Object.entries(names).map(
    ([name, column]) => sql`${sql.ref(`${alias}.${column}`)} as ${sql.id(name)}`,
  );
  return sql<Renamed<Table, Names>>`${sql.join(columns)}`;
}

/** What a select list reads. */
export type Selected<List> = List extends RawBuilder<infer Columns> ? Columns : never;
