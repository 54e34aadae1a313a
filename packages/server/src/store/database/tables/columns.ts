/**
 * How a table is written down: an interface for Kysely, whose members are its columns, and a record with the SQL type
 * of each. The compiler keeps the two equal; `database.db.test.ts` compares the record with the catalogue of the
 * database.
 */

import type { ColumnType, InsertType, SelectType } from "kysely";

/** Read as ISO 8601 UTC with milliseconds. */
export type Timestamp = ColumnType<string, Date, Date>;
export type NullableTimestamp = ColumnType<string | null, Date | null | undefined, Date | null>;

/** Read as a value, written as JSON text. */
export type Json<Value = Record<string, unknown>> = ColumnType<Value, string, string>;
export type NullableJson<Value = Record<string, unknown>> = ColumnType<
  Value | null,
  string | null | undefined,
  string | null
>;

/** The column has a default in the database. */
export type Defaulted<Value> = ColumnType<Value, Value | undefined, Value>;
export type DefaultedJson<Value> = ColumnType<Value, string | undefined, string>;
export type DefaultedTimestamp = ColumnType<string, Date | undefined, Date>;

type NotNullType<Column, Value> = [Date] extends [InsertType<Column>]
  ? "timestamptz"
  : [Value] extends [boolean]
    ? "boolean"
    : [Value] extends [number]
      ? "smallint" | "integer" | "bigint"
      : [Value] extends [string]
        ? "text" | "uuid" | "tsvector"
        : "json" | "jsonb" | "text[]" | "uuid[]";

/** The SQL types whose values the column's TypeScript type describes; ` null` where it can be null. */
type SqlTypeOf<Column> =
  null extends SelectType<Column>
    ? `${NotNullType<Column, NonNullable<SelectType<Column>>>} null`
    : NotNullType<Column, SelectType<Column>>;

/** Every column of a table with its SQL type. */
export type ColumnsOf<Table> = { readonly [Column in keyof Table]: SqlTypeOf<Table[Column]> };
