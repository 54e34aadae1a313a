/** Executes the SQL of a library (pg-boss) on connections of the store. */

import type { PostgresPool } from "kysely";
import type { Db } from "./db.ts";

export interface RawRows {
  readonly rows: Record<string, unknown>[];
}

/** Without values the text may contain several statements; their rows are concatenated. */
export type RunSql = (text: string, values?: readonly unknown[]) => Promise<RawRows>;

/** When a text fails, its transaction is rolled back: on the embedded database all other queries would wait for it. */
export function rawSql(pool: PostgresPool): RunSql {
  return async (text, values = []) => {
    const client = await pool.connect();
    try {
      // Kysely's types omit it: a list if the text contained several statements.
      const result: unknown = await client.query<Record<string, unknown>>(text, [...values]);
      client.release();
      return { rows: rowsOf(result) };
    } catch (error) {
      // If the connection cannot roll back, the next query on it fails as well.
      await client.query("rollback", []).catch(() => undefined);
      client.release();
      throw error;
    }
  };
}

/** Within a transaction, or on any connection. One statement at a time. */
export function rawSqlOf(db: Pick<Db, "query">): RunSql {
  return async (text, values = []) => {
    const compiled = { sql: text, parameters: [...values] };
    const result = await db.query.executeQuery({
      ...compiled,
      query: { kind: "RawNode", sqlFragments: [text], parameters: [] },
      queryId: { queryId: "raw" },
    });
    return { rows: rowsOf(result) };
  };
}

function rowsOf(result: unknown): Record<string, unknown>[] {
  if (Array.isArray(result)) return result.flatMap((one: unknown) => rowsOf(one));
  if (typeof result !== "object" || result === null || !("rows" in result)) return [];
  const { rows } = result;
  return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
}
