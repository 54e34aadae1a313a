/** Connections to the database, bounded in number, waiting time and queue. */

import type { PostgresPool } from "kysely";
import { Pool, type PoolClient } from "pg";
import { ADMIN_SOCKET_PORT } from "./embedded/admin-socket.ts";
import type { EmbeddedEngine } from "./embedded/embedded-engine.ts";
import { EMBEDDED_SETTINGS, IDLE_IN_TRANSACTION_LIMIT_MS } from "./embedded/turns.ts";
import { keepingPlans } from "./kept-plans.ts";
import { StoreBusyError } from "./store-errors.ts";
import { valueParsers } from "./value-parsers.ts";

/** Queries at a time. PostgreSQL allows 100 connections by default, and several nodes share them. */
const MAXIMUM_CONNECTIONS = 16;

/** Queries waiting for a connection, about half a second of work; beyond it the caller is told to come back. */
export const MAXIMUM_WAITING_QUERIES = 1_000;

/** Wait for a connection, new or free. */
const CONNECTION_LIMIT_MS = 5_000;

/** One statement. Lists over millions of rows take less; migrations set their own. */
const STATEMENT_LIMIT_MS = 15_000;

/** Wait for a row lock. */
const LOCK_LIMIT_MS = 10_000;

/** Wait for an answer: longer than the server's own limit, for a server that has gone without a word. */
const ANSWER_LIMIT_MS = 20_000;

const IDLE_CONNECTION_LIMIT_MS = 30_000;

/** What differs between the pool of the service and the one that migrations use. */
export interface PoolLimits {
  readonly connections: number;
  readonly answerLimitMs: number;
}

export const queryLimits: PoolLimits = { connections: MAXIMUM_CONNECTIONS, answerLimitMs: ANSWER_LIMIT_MS };

export function embeddedPool(engine: EmbeddedEngine, limits: PoolLimits): Pool {
  return new Pool({
    stream: () => engine.connect(),
    max: limits.connections,
    connectionTimeoutMillis: CONNECTION_LIMIT_MS,
    query_timeout: limits.answerLimitMs,
    idleTimeoutMillis: 0,
    types: valueParsers,
    // Nothing is looked up and nobody is asked for a password; `pg` would take these from the environment.
    host: "embedded",
    user: "postgres",
    password: "",
    database: "postgres",
    ssl: false,
  });
}

/** To the embedded database of another process, through its socket in `dir`. */
export function socketPool(dir: string, limits: PoolLimits): Pool {
  return new Pool({
    host: dir,
    port: ADMIN_SOCKET_PORT,
    max: limits.connections,
    connectionTimeoutMillis: CONNECTION_LIMIT_MS,
    query_timeout: limits.answerLimitMs,
    types: valueParsers,
    user: "postgres",
    password: "",
    database: "postgres",
    ssl: false,
  });
}

export function serverPool(databaseUrl: string, limits: PoolLimits): Pool {
  return new Pool({
    connectionString: databaseUrl,
    application_name: "parley",
    max: limits.connections,
    connectionTimeoutMillis: CONNECTION_LIMIT_MS,
    query_timeout: limits.answerLimitMs,
    idleTimeoutMillis: IDLE_CONNECTION_LIMIT_MS,
    keepAlive: true,
    types: valueParsers,
  });
}

/** Sent after the connection stands and not with its opening, where poolers in between refuse settings. */
const serverSettings = [
  "set datestyle to 'ISO, MDY'",
  "set timezone to 'UTC'",
  // Compiling a plan takes longer than any query of the service.
  "set jit to off",
  // Four times the default: the matches of an index among a million rows, one by one instead of page by page.
  "set work_mem to '16MB'",
  `set statement_timeout to ${STATEMENT_LIMIT_MS}`,
  `set lock_timeout to ${LOCK_LIMIT_MS}`,
  `set idle_in_transaction_session_timeout to ${IDLE_IN_TRANSACTION_LIMIT_MS}`,
].join("; ");

/** With a bounded queue, and connections that have our settings. */
export function boundedPool(pool: Pool, kind: "embedded" | "postgresql"): PostgresPool {
  const settings = kind === "embedded" ? EMBEDDED_SETTINGS : serverSettings;
  const clients = new WeakMap<PoolClient, PoolClient>();
  return {
    options: {},
    connect: async () => {
      if (pool.waitingCount >= MAXIMUM_WAITING_QUERIES) {
        throw new StoreBusyError("Too many queries are waiting for the database.");
      }
      const client = await pool.connect().catch((error: unknown) => {
        throw isQueueTimeout(error)
          ? new StoreBusyError("The database was busy too long.", { cause: error })
          : error;
      });
      const known = clients.get(client);
      if (known !== undefined) return known;
      await prepare(client, settings);
      const ours = kind === "embedded" ? client : keepingPlans(client, async (query) => client.query(query));
      clients.set(client, ours);
      return ours;
    },
    end: async () => pool.end(),
  };
}

/** What `pg-pool` says when no connection came free; a server that does not answer is called otherwise. */
function isQueueTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "timeout exceeded when trying to connect";
}

async function prepare(client: PoolClient, settings: string): Promise<void> {
  try {
    await client.query(settings);
  } catch (error) {
    client.release(true);
    throw error;
  }
}
