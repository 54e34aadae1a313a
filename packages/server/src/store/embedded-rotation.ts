/** Whether a change of SECRETS_KEY is unfinished, of an embedded database that is to stay as it is. */

import { Kysely, PostgresDialect, sql } from "kysely";
import { embeddedDatabaseDir } from "./data-dir.ts";
import type { Database } from "./database.ts";
import { startEmbeddedEngine } from "./embedded/embedded-engine.ts";
import { boundedPool, embeddedPool, queryLimits } from "./pool.ts";
import { readRotation } from "./secrets-rotation.ts";
import { StoreStartError } from "./store-errors.ts";

/**
 * Opens the database for the question alone: it is not migrated and needs no key. The caller has the lock of `dataDir`.
 * @returns the id of the key that the change goes to; null: none is under way.
 * @throws StoreStartError when the database does not open.
 */
export async function readEmbeddedRotation(dataDir: string): Promise<string | null> {
  const dir = embeddedDatabaseDir(dataDir);
  // What ends the engine early fails the queries too.
  const engine = await startEmbeddedEngine(dir, () => undefined).catch((error: unknown) => {
    throw new StoreStartError(`The embedded database in ${dir} does not open: ${String(error)}.`, {
      cause: error,
    });
  });
  const pool = embeddedPool(engine, { ...queryLimits, connections: 1 });
  pool.on("connect", (client) => client.on("error", () => undefined));
  pool.on("error", () => undefined);
  const query = new Kysely<Database>({
    dialect: new PostgresDialect({ pool: boundedPool(pool, "embedded") }),
  });
  try {
    // Not there before the first migration.
    const settings = await sql<{ isThere: boolean }>`
      select to_regclass('store_settings') is not null as "isThere"`.execute(query);
    return settings.rows[0]?.isThere === true ? await readRotation({ query }) : null;
  } finally {
    await query.destroy();
    await engine.close();
  }
}
