/** SQL texts of a library that brings its own, over the connections of the store. */

import type { PostgresPool } from "kysely";
import type { Db } from "./db.ts";

export interface RawRows {
  readonly rows: Record<string, unknown>[];
}

/** Without values the text may hold several statements; their rows come together. */
export type RunSql = (text: string, values?: readonly unknown[]) => Promise<RawRows>;

/** A text that began a transaction and failed leaves none behind: on the embedded database all others would wait for it. */
export function rawSql(pool: PostgresPool): RunSql {
  return async (text, values = []) => {
    const client = await pool.connect();
    try {
      // More than Kysely's types tell: a list where the text held several statements.
      const result: unknown = await client.query<Record<string, unknown>>(text, [...values]);
      client.release();
      return { rows: rowsOf(result) };
    } catch (error) {
      // One that cannot even roll back answers with an error, and so does the next query on it.
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
