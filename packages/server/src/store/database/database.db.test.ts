import { sql } from "kysely";
import { expect, it } from "vitest";
import { TABLES } from "./database.ts";
import { describeOnBothDatabases } from "../testing/databases.ts";

interface CatalogueColumn {
  readonly table: string;
  readonly column: string;
  /** The short name of the type, such as `int4`; of an array with `_` before it. */
  readonly type: string;
  readonly isNullable: boolean;
}

const SHORT_NAMES: Readonly<Record<string, string>> = {
  bool: "boolean",
  int2: "smallint",
  int4: "integer",
  int8: "bigint",
  _text: "text[]",
  _uuid: "uuid[]",
};

function sqlTypeOf({ type, isNullable }: CatalogueColumn): string {
  return `${SHORT_NAMES[type] ?? type}${isNullable ? " null" : ""}`;
}

describeOnBothDatabases("the tables as they are written down", (current) => {
  it("are those of the catalogue, with the same columns", async () => {
    const read = await sql<CatalogueColumn>`
      select columns.table_name as "table", column_name as "column", udt_name as type,
        is_nullable = 'YES' as "isNullable"
      from information_schema.columns as columns join information_schema.tables as tables
        on tables.table_schema = columns.table_schema and tables.table_name = columns.table_name
      where columns.table_schema = current_schema() and table_type = 'BASE TABLE'`.execute(
      current().db.query,
    );
    const found: Record<string, Record<string, string>> = {};
    for (const row of read.rows) (found[row.table] ??= {})[row.column] = sqlTypeOf(row);
    expect(found).toEqual(TABLES);
  });
});
