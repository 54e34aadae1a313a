/** Opens the store: PostgreSQL where DATABASE_URL names one, otherwise the embedded database in DATA_DIR. */

import { sql, type Kysely } from "kysely";
import { ApiKeyCache } from "../database/api-key-cache.ts";
import type { Database } from "../database/database.ts";
import type { Db } from "../database/db.ts";
import { checkMigrated, migrate, migrationLimits, readMigrations } from "../database/migrate.ts";
import { leaseLimits, oneConnection, recordLimits } from "../database/pool.ts";
import type { RunSql } from "../database/raw-sql.ts";
import type { Sealer } from "../database/sealer.ts";
import { checkSecretsKey } from "../secrets/secrets-key.ts";
import { createSealer } from "../secrets/secrets.ts";
import {
  connectServer,
  openEmbedded,
  openServer,
  openSocket,
  type Boot,
  type OpenedDatabase,
  type StoreLog,
  type StoreOptions,
} from "./open-database.ts";

export interface Store {
  readonly db: Db;
  /** On connections of its own, for the records of live calls. */
  readonly recordsDb: Db;
  /** On a connection of its own, for the lease of this process: hundreds of records can wait for those of calls. */
  readonly leaseDb: Db;
  readonly kind: "embedded" | "postgresql";
  /** This process among those that have had DATA_DIR. Null: it has not locked it. */
  readonly boot: Boot | null;
  /** One more connection, in a pool of its own. */
  readonly openConnection: () => Kysely<Database>;
  /** For the job library, on connections like those of `db`. */
  readonly runSql: RunSql;
  /** One round trip to the database. Rejects when there is none. */
  readonly ping: () => Promise<void>;
  /** Waits for queries under way, then closes the database and releases its lock. Idempotent. */
  readonly close: () => Promise<void>;
}

/** @throws StoreStartError with one sentence for the person who starts the service. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const sealer = createSealer(options.secretsKey);
  const opened = options.databaseUrl === null ? await openEmbedded(options) : await openServer(options);
  return storeOver(opened, sealer, options, migrateOn);
}

/**
 * Opens a database that a service may be using: PostgreSQL, or the embedded database of a running service through its
 * socket. It is not migrated. Null: no service has the embedded database open.
 * @throws StoreStartError with one sentence, also when the database is not migrated to this version.
 */
export async function openSharedStore(options: StoreOptions): Promise<Store | null> {
  const sealer = createSealer(options.secretsKey);
  const opened =
    options.databaseUrl === null ? await openSocket(options) : await connectServer(options, null);
  if (opened === null) return null;
  return storeOver(opened, sealer, options, async ({ query }) =>
    checkMigrated(query, await readMigrations()),
  );
}

async function storeOver(
  opened: OpenedDatabase,
  sealer: Sealer,
  { log, betweenKeys }: StoreOptions,
  prepare: (opened: OpenedDatabase, log: StoreLog) => Promise<void>,
): Promise<Store> {
  const db: Db = { query: opened.query, sealer, apiKeyCache: new ApiKeyCache() };
  const recordsDb: Db = { ...db, query: opened.connect(recordLimits) };
  const leaseDb: Db = { ...db, query: opened.connect(leaseLimits) };
  let closed: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    closed ??= closeAll(opened, [recordsDb, leaseDb], log);
    return closed;
  };
  try {
    await prepare(opened, log);
    if (betweenKeys !== true) await checkSecretsKey(db);
  } catch (error) {
    await close();
    throw error;
  }
  const { kind, boot, runSql } = opened;
  const openConnection = (): Kysely<Database> => opened.connect(oneConnection);
  return { db, recordsDb, leaseDb, kind, boot, openConnection, runSql, ping: async () => ping(db), close };
}

async function migrateOn(opened: OpenedDatabase, log: StoreLog): Promise<void> {
  const query = opened.connect(migrationLimits);
  try {
    const applied = await migrate(query, await readMigrations());
    if (applied.length > 0) log.info({ migrations: applied }, "Database migrated.");
  } finally {
    await query.destroy();
  }
}

/** Timeout for queries and transactions under way; unfinished ones are rolled back. */
const CLOSING_LIMIT_MS = 10_000;

async function closeAll(opened: OpenedDatabase, more: readonly Db[], log: StoreLog): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("queries did not end in time")), CLOSING_LIMIT_MS);
  try {
    const pools = [...more.map(({ query }) => query), opened.query];
    await Promise.race([Promise.all(pools.map((query) => query.destroy())), late]);
  } catch (error) {
    log.warn({ reason: String(error) }, "The database was closed while queries were running.");
  } finally {
    clearTimeout(timer);
  }
  await opened.release();
}

async function ping(db: Db): Promise<void> {
  await sql`select 1`.execute(db.query);
}
