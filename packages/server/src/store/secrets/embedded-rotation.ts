/** Reads from an embedded database, without changing it, whether a change of SECRETS_KEY is unfinished. */

import { Kysely, PostgresDialect, sql } from "kysely";
import { embeddedDatabaseDir } from "../database/data-dir.ts";
import type { Database } from "../database/database.ts";
import { startEmbeddedEngine } from "../embedded/embedded-engine.ts";
import { boundedPool, queryLimits } from "../database/pool.ts";
import { embeddedPool, embeddedSetup } from "../embedded/embedded-pool.ts";
import { readRotation } from "./secrets-rotation.ts";
import { StoreStartError } from "../database/store-errors.ts";

/**
 * Opens the database only to read this: it is not migrated and needs no key. The caller holds the lock of `dataDir`.
 * @returns the id of the new key; null: no change is under way.
 * @throws StoreStartError when the database does not open.
 */
export async function readEmbeddedRotation(dataDir: string): Promise<string | null> {
  const dir = embeddedDatabaseDir(dataDir);
  // If the engine stops early, the queries fail as well.
  const engine = await startEmbeddedEngine(dir, () => undefined).catch((error: unknown) => {
    throw new StoreStartError(`The embedded database in ${dir} does not open: ${String(error)}.`, {
      cause: error,
    });
  });
  const pool = embeddedPool(engine, { ...queryLimits, connections: 1 });
  pool.on("connect", (client) => client.on("error", () => undefined));
  pool.on("error", () => undefined);
  const query = new Kysely<Database>({
    dialect: new PostgresDialect({ pool: boundedPool(pool, embeddedSetup) }),
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
