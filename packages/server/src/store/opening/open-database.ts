/** Opens a database: PostgreSQL, the embedded one, or the embedded one of a running service. */

import { Kysely, PostgresDialect, sql } from "kysely";
import type { Pool } from "pg";
import { adminSocketDir, embeddedDatabaseDir } from "../database/data-dir.ts";
import type { Database } from "../database/database.ts";
import { lockDataDir, type DataDirLock } from "../database/lock-file.ts";
import {
  boundedPool,
  type ConnectionSetup,
  type PoolLimits,
  queryLimits,
  serverPool,
  serverSetup,
} from "../database/pool.ts";
import { rawSql, type RunSql } from "../database/raw-sql.ts";
import { StoreStartError } from "../database/store-errors.ts";
import { type AdminSocket, adminSocketPath, openAdminSocket } from "../embedded/admin-socket.ts";
import { type EmbeddedEngine, startEmbeddedEngine } from "../embedded/embedded-engine.ts";
import { embeddedPool, embeddedSetup, socketPool } from "../embedded/embedded-pool.ts";
import { messageOf } from "../../pacing/error-text.ts";

/** The methods of pino that the store uses. */
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
  /** The embedded database has stopped permanently; nothing can be stored. */
  readonly onLost?: (reason: string) => void;
  /** True: services are running on this PostgreSQL database, so DATA_DIR is not locked. */
  readonly beside?: boolean;
  /** True: for a change of SECRETS_KEY, during which the database has texts under two keys. */
  readonly betweenKeys?: boolean;
}

interface Connections {
  readonly query: Kysely<Database>;
  readonly runSql: RunSql;
}

/** See `DataDirLock`. */
export type Boot = Pick<DataDirLock, "bootId" | "endedBootIds">;

export interface OpenedDatabase extends Connections {
  /** More connections to the same database. */
  readonly connect: (limits: PoolLimits) => Kysely<Database>;
  readonly kind: "embedded" | "postgresql";
  /** This process among those that have had DATA_DIR. Null: it has not locked it. */
  readonly boot: Boot | null;
  /** Called after the connections are closed. */
  readonly release: () => Promise<void>;
}

export async function openEmbedded({ dataDir, log, onLost }: StoreOptions): Promise<OpenedDatabase> {
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
      connectionsOf(embeddedPool(started, limits), embeddedSetup, log);
    return {
      ...open(queryLimits),
      connect: (limits) => open(limits).query,
      kind: "embedded",
      boot: lock,
      release,
    };
  } catch (error) {
    // The lock is released last: two engines on one folder corrupt it.
    await engine?.close();
    await lock.release();
    throw error;
  }
}

/** Null: without the socket, commands work only while the service is stopped. The service starts anyway. */
async function openForCommands(
  dataDir: string,
  engine: EmbeddedEngine,
  log: StoreLog,
): Promise<AdminSocket | null> {
  const warn = (error: unknown): void =>
    log.warn({ dataDir, reason: String(error) }, "The socket for commands does not work.");
  const admin = await openAdminSocket(adminSocketDir(dataDir), engine, warn).catch((error: unknown) => {
    warn(error);
    return undefined;
  });
  if (admin === null) log.info({ dataDir }, "The path of DATA_DIR is too long for the socket for commands.");
  return admin ?? null;
}

export async function openSocket({ dataDir, log }: StoreOptions): Promise<OpenedDatabase | null> {
  const dir = adminSocketDir(dataDir);
  if (adminSocketPath(dir) === null) return null;
  const open = (limits: PoolLimits): Connections =>
    connectionsOf(socketPool(dir, limits), embeddedSetup, log);
  const { query, runSql } = open(queryLimits);
  const connect = (limits: PoolLimits): Kysely<Database> => open(limits).query;
  try {
    await sql`select 1`.execute(query);
    return { query, runSql, connect, kind: "embedded", boot: null, release: async () => undefined };
  } catch (error) {
    await query.destroy();
    const { code } = error as NodeJS.ErrnoException;
    // No socket, or left by a service that has stopped.
    if (code === "ENOENT" || code === "ECONNREFUSED") return null;
    throw new StoreStartError(
      `The running service refused the connection of this command: ${String(error)}.`,
      {
        cause: error,
      },
    );
  }
}

/**
 * DATA_DIR is locked with PostgreSQL as well: it contains the node's id and recordings, which only one process may use.
 */
export async function openServer(options: StoreOptions): Promise<OpenedDatabase> {
  if (options.beside === true) return connectServer(options, null);
  const lock = await lockDataDir(options.dataDir);
  try {
    return await connectServer(options, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

export async function connectServer(
  { databaseUrl, log }: StoreOptions,
  lock: DataDirLock | null,
): Promise<OpenedDatabase> {
  const url = databaseUrl ?? "";
  const { hostname, pathname } = parseDatabaseUrl(url);
  const open = (limits: PoolLimits): Connections => connectionsOf(serverPool(url, limits), serverSetup, log);
  const { query, runSql } = open(queryLimits);
  const connect = (limits: PoolLimits): Kysely<Database> => open(limits).query;
  try {
    await sql`select 1`.execute(query);
  } catch (error) {
    await query.destroy();
    // The URL contains a password.
    const reason = messageOf(error);
    throw new StoreStartError(
      `The database ${pathname.slice(1)} on ${hostname} (DATABASE_URL) cannot be used: ${reason}.`,
      { cause: error },
    );
  }
  const release = async (): Promise<void> => lock?.release();
  return { query, runSql, connect, kind: "postgresql", boot: lock, release };
}

function parseDatabaseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !["postgres:", "postgresql:"].includes(url.protocol)) {
    throw new StoreStartError("DATABASE_URL must begin with postgresql:// and be a URL.");
  }
  return url;
}

function connectionsOf(pool: Pool, setup: ConnectionSetup, log: StoreLog): Connections {
  const lost = (error: Error): void => {
    if (!pool.ending) log.warn({ reason: error.message }, "A database connection was lost.");
  };
  pool.on("error", lost);
  // A connection may break while it is checked out and idle. Without a listener that would end the process. The next
  // query on it fails.
  pool.on("connect", (client) => client.on("error", lost));
  const bounded = boundedPool(pool, setup);
  return {
    query: new Kysely<Database>({ dialect: new PostgresDialect({ pool: bounded }) }),
    runSql: rawSql(bounded),
  };
}
