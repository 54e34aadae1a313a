/** Opening the database: PostgreSQL where DATABASE_URL names one, else the embedded one in DATA_DIR. */

import { Kysely, sql } from "kysely";
import type { Pool } from "pg";
import { ApiKeyCache } from "./api-key-cache.ts";
import { embeddedDatabaseDir } from "./data-dir.ts";
import type { Database } from "./database.ts";
import { startEmbeddedEngine } from "./embedded/embedded-engine.ts";
import { lockDataDir } from "./lock-file.ts";
import { migrate, migrationLimits, readMigrations } from "./migrate.ts";
import { dialectOf, embeddedPool, serverPool, queryLimits, type PoolLimits } from "./pool.ts";
import { checkSecretsKey } from "./secrets-key.ts";
import { createSealer, type Sealer } from "./secrets.ts";
import { StoreStartError } from "./store-errors.ts";

export { loadSecretsKey } from "./secrets-key.ts";

/** What every function of the store takes first. */
export interface Db {
  readonly query: Kysely<Database>;
  readonly sealer: Sealer;
  readonly apiKeyCache: ApiKeyCache;
}

/** Runs `work` in one transaction: what it writes through `tx` is there as a whole or not at all. */
export async function inTransaction<Result>(db: Db, work: (tx: Db) => Promise<Result>): Promise<Result> {
  if (db.query.isTransaction) return work(db);
  return db.query.transaction().execute(async (transaction) => work({ ...db, query: transaction }));
}

/** The part of pino that the store uses. */
export interface StoreLog {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

export interface StoreOptions {
  readonly dataDir: string;
  /** Null: embedded. */
  readonly databaseUrl: string | null;
  /** 32 bytes. */
  readonly secretsKey: Uint8Array;
  readonly log: StoreLog;
  /** The embedded database has stopped for good; nothing is stored any more. */
  readonly onLost?: (reason: string) => void;
}

export interface Store {
  readonly db: Db;
  readonly kind: "embedded" | "postgresql";
  /** One round trip to the database. Rejects when there is none. */
  readonly ping: () => Promise<void>;
  /** Waits for queries under way, then lets go of the database and its lock. Idempotent. */
  readonly close: () => Promise<void>;
}

/** @throws StoreStartError with one sentence for the person who starts the service. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const sealer = createSealer(options.secretsKey);
  const opened = options.databaseUrl === null ? await openEmbedded(options) : await openServer(options);
  const db: Db = { query: opened.query, sealer, apiKeyCache: new ApiKeyCache() };
  let closed: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    closed ??= closeAll(opened, options.log);
    return closed;
  };
  try {
    await migrateOn(opened, options.log);
    await checkSecretsKey(db);
  } catch (error) {
    await close();
    throw error;
  }
  return { db, kind: opened.kind, ping: async () => ping(db), close };
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

interface OpenedDatabase {
  readonly query: Kysely<Database>;
  /** More connections to the same database. */
  readonly connect: (limits: PoolLimits) => Kysely<Database>;
  readonly kind: Store["kind"];
  /** What is let go of after the connections. */
  readonly release: () => Promise<void>;
}

async function openEmbedded({ dataDir, log, onLost }: StoreOptions): Promise<OpenedDatabase> {
  const lock = await lockDataDir(dataDir);
  try {
    const engine = await startEmbeddedEngine(embeddedDatabaseDir(dataDir), (error) => {
      const reason = "The embedded database has stopped; the service must be started again.";
      log.error({ reason: error.message }, reason);
      onLost?.(reason);
    });
    const release = async (): Promise<void> => {
      await engine.close();
      await lock.release();
    };
    const connect = (limits: PoolLimits): Kysely<Database> =>
      queryOver(embeddedPool(engine, limits), "embedded", log);
    return { query: connect(queryLimits), connect, kind: "embedded", release };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** DATA_DIR is locked here too: it holds the name of the node and its recordings, which are one process's own. */
async function openServer(options: StoreOptions): Promise<OpenedDatabase> {
  const lock = await lockDataDir(options.dataDir);
  try {
    return await connectServer(options, lock.release);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function connectServer(
  { databaseUrl, log }: StoreOptions,
  release: OpenedDatabase["release"],
): Promise<OpenedDatabase> {
  const url = databaseUrl ?? "";
  const { hostname, pathname } = parseDatabaseUrl(url);
  const connect = (limits: PoolLimits): Kysely<Database> =>
    queryOver(serverPool(url, limits), "postgresql", log);
  const query = connect(queryLimits);
  try {
    await sql`select 1`.execute(query);
  } catch (error) {
    await query.destroy();
    // The URL itself holds a password.
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreStartError(
      `The database ${pathname.slice(1)} on ${hostname} (DATABASE_URL) cannot be used: ${reason}.`,
      { cause: error },
    );
  }
  return { query, connect, kind: "postgresql", release };
}

function parseDatabaseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !["postgres:", "postgresql:"].includes(url.protocol)) {
    throw new StoreStartError("DATABASE_URL must begin with postgresql:// and be a URL.");
  }
  return url;
}

function queryOver(pool: Pool, kind: Store["kind"], log: StoreLog): Kysely<Database> {
  const lost = (error: Error): void => {
    if (!pool.ending) log.warn({ reason: error.message }, "A database connection was lost.");
  };
  pool.on("error", lost);
  // A connection may break while somebody has it and asks nothing. Without a listener that would end the process;
  // the next query on it fails.
  pool.on("connect", (client) => client.on("error", lost));
  return new Kysely<Database>({ dialect: dialectOf(pool, kind) });
}

/** Wait for queries and transactions under way; what has not ended by then is rolled back. */
const CLOSING_LIMIT_MS = 10_000;

async function closeAll(opened: OpenedDatabase, log: StoreLog): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("queries did not end in time")), CLOSING_LIMIT_MS);
  try {
    await Promise.race([opened.query.destroy(), late]);
  } catch (error) {
    log.warn({ reason: String(error) }, "The database was closed while it was in use.");
  } finally {
    clearTimeout(timer);
  }
  await opened.release();
}

async function ping(db: Db): Promise<void> {
  await sql`select 1`.execute(db.query);
}
