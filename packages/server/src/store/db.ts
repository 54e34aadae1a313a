/** Opening the database: PostgreSQL where DATABASE_URL names one, else the embedded one in DATA_DIR. */

import { Kysely, PostgresDialect, sql } from "kysely";
import type { Pool } from "pg";
import { ApiKeyCache } from "./api-key-cache.ts";
import { adminSocketDir, embeddedDatabaseDir } from "./data-dir.ts";
import type { Database } from "./database.ts";
import { type AdminSocket, adminSocketPath, openAdminSocket } from "./embedded/admin-socket.ts";
import { type EmbeddedEngine, startEmbeddedEngine } from "./embedded/embedded-engine.ts";
import { lockDataDir } from "./lock-file.ts";
import { checkMigrated, migrate, migrationLimits, readMigrations } from "./migrate.ts";
import { boundedPool, embeddedPool, serverPool, queryLimits, socketPool, type PoolLimits } from "./pool.ts";
import { rawSql, type RunSql } from "./raw-sql.ts";
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
  /** Beside services that run on PostgreSQL: their DATA_DIR is left to them. */
  readonly beside?: boolean;
  /** For who changes SECRETS_KEY, and so finds the database between two of them. */
  readonly betweenKeys?: boolean;
}

export interface Store {
  readonly db: Db;
  readonly kind: "embedded" | "postgresql";
  /** For the library that keeps jobs, on connections like those of `db`. */
  readonly runSql: RunSql;
  /** One round trip to the database. Rejects when there is none. */
  readonly ping: () => Promise<void>;
  /** Waits for queries under way, then lets go of the database and its lock. Idempotent. */
  readonly close: () => Promise<void>;
}

/** @throws StoreStartError with one sentence for the person who starts the service. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const sealer = createSealer(options.secretsKey);
  const opened = options.databaseUrl === null ? await openEmbedded(options) : await openServer(options);
  return storeOver(opened, sealer, options, migrateOn);
}

/**
 * Beside a service that may run: PostgreSQL, or the embedded database of a running service through its socket. It is
 * left in the form that it has. Null: no service has the embedded database open.
 * @throws StoreStartError with one sentence, also when the database is not in the form that this version needs.
 */
export async function openSharedStore(options: StoreOptions): Promise<Store | null> {
  const sealer = createSealer(options.secretsKey);
  const nothing = async (): Promise<void> => undefined;
  const opened =
    options.databaseUrl === null ? await openSocket(options) : await connectServer(options, nothing);
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
  let closed: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    closed ??= closeAll(opened, log);
    return closed;
  };
  try {
    await prepare(opened, log);
    if (betweenKeys !== true) await checkSecretsKey(db);
  } catch (error) {
    await close();
    throw error;
  }
  return { db, kind: opened.kind, runSql: opened.runSql, ping: async () => ping(db), close };
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

interface Connections {
  readonly query: Kysely<Database>;
  readonly runSql: RunSql;
}

interface OpenedDatabase extends Connections {
  /** More connections to the same database. */
  readonly connect: (limits: PoolLimits) => Kysely<Database>;
  readonly kind: Store["kind"];
  /** What is let go of after the connections. */
  readonly release: () => Promise<void>;
}

async function openEmbedded({ dataDir, log, onLost }: StoreOptions): Promise<OpenedDatabase> {
  const lock = await lockDataDir(dataDir);
  let engine: EmbeddedEngine | null = null;
  try {
    const started = await startEmbeddedEngine(embeddedDatabaseDir(dataDir), (error) => {
      const reason = "The embedded database has stopped; the service must be started again.";
      log.error({ reason: error.message }, reason);
      onLost?.(reason);
    });
    engine = started;
    const admin = await openForCommands(dataDir, started, log);
    const release = async (): Promise<void> => {
      await admin?.close();
      await started.close();
      await lock.release();
    };
    const open = (limits: PoolLimits): Connections =>
      connectionsOf(embeddedPool(started, limits), "embedded", log);
    return { ...open(queryLimits), connect: (limits) => open(limits).query, kind: "embedded", release };
  } catch (error) {
    // The lock last: two engines on one folder corrupt it.
    await engine?.close();
    await lock.release();
    throw error;
  }
}

/** Null: without it commands have to wait until the service is stopped, which is no reason not to start. */
async function openForCommands(
  dataDir: string,
  engine: EmbeddedEngine,
  log: StoreLog,
): Promise<AdminSocket | null> {
  const warn = (error: unknown): void =>
    log.warn({ dataDir, reason: String(error) }, "The socket of commands does not work.");
  const admin = await openAdminSocket(adminSocketDir(dataDir), engine, warn).catch((error: unknown) => {
    warn(error);
    return undefined;
  });
  if (admin === null) log.info({ dataDir }, "The path of DATA_DIR is too long for the socket of commands.");
  return admin ?? null;
}

async function openSocket({ dataDir, log }: StoreOptions): Promise<OpenedDatabase | null> {
  const dir = adminSocketDir(dataDir);
  if (adminSocketPath(dir) === null) return null;
  const open = (limits: PoolLimits): Connections => connectionsOf(socketPool(dir, limits), "embedded", log);
  const { query, runSql } = open(queryLimits);
  const connect = (limits: PoolLimits): Kysely<Database> => open(limits).query;
  try {
    await sql`select 1`.execute(query);
    return { query, runSql, connect, kind: "embedded", release: async () => undefined };
  } catch (error) {
    await query.destroy();
    const { code } = error as NodeJS.ErrnoException;
    // Never there, or left behind by a service that is gone.
    if (code === "ENOENT" || code === "ECONNREFUSED") return null;
    throw new StoreStartError(`The running service did not let this command in: ${String(error)}.`, {
      cause: error,
    });
  }
}

/** DATA_DIR is locked here too: it holds the name of the node and its recordings, which are one process's own. */
async function openServer(options: StoreOptions): Promise<OpenedDatabase> {
  if (options.beside === true) return connectServer(options, async () => undefined);
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
  const open = (limits: PoolLimits): Connections => connectionsOf(serverPool(url, limits), "postgresql", log);
  const { query, runSql } = open(queryLimits);
  const connect = (limits: PoolLimits): Kysely<Database> => open(limits).query;
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
  return { query, runSql, connect, kind: "postgresql", release };
}

function parseDatabaseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !["postgres:", "postgresql:"].includes(url.protocol)) {
    throw new StoreStartError("DATABASE_URL must begin with postgresql:// and be a URL.");
  }
  return url;
}

function connectionsOf(pool: Pool, kind: Store["kind"], log: StoreLog): Connections {
  const lost = (error: Error): void => {
    if (!pool.ending) log.warn({ reason: error.message }, "A database connection was lost.");
  };
  pool.on("error", lost);
  // A connection may break while somebody has it and asks nothing. Without a listener that would end the process;
  // the next query on it fails.
  pool.on("connect", (client) => client.on("error", lost));
  const bounded = boundedPool(pool, kind);
  return {
    query: new Kysely<Database>({ dialect: new PostgresDialect({ pool: bounded }) }),
    runSql: rawSql(bounded),
  };
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
