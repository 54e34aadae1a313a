/** Connections to the database, bounded in number, waiting time and queue. */

import type { PostgresPool } from "kysely";
import { Pool, type PoolClient } from "pg";
import { IDLE_IN_TRANSACTION_LIMIT_MS } from "./transaction-limit.ts";
import { withExtendedQueries, withPreparedStatements } from "./prepared-statements.ts";
import { StoreBusyError } from "./store-errors.ts";
import { valueParsers } from "./value-parsers.ts";

/**
 * Queries of requests and of background work at a time. PostgreSQL allows 100 connections by default, and several nodes
 * share them.
 */
const QUERY_CONNECTIONS = 12;

/** Further ones for the records of live calls, so that lists and searches cannot delay them. */
const RECORD_CONNECTIONS = 4;

/** Queries waiting for a connection, about half a second of work; further ones are refused with a 503. */
export const MAXIMUM_WAITING_QUERIES = 1_000;

/** Timeout for a new or free connection. */
export const CONNECTION_LIMIT_MS = 5_000;

/** Timeout of one statement. Lists over millions of rows take less; migrations set their own. */
const STATEMENT_LIMIT_MS = 15_000;

/** Timeout for a row lock. */
const LOCK_LIMIT_MS = 10_000;

/** Timeout for an answer: longer than the server's own limit, for a server that no longer responds. */
const ANSWER_LIMIT_MS = 20_000;

const IDLE_CONNECTION_LIMIT_MS = 30_000;

/** Settings that differ between the pool of the service and the pool of migrations. */
export interface PoolLimits {
  readonly connections: number;
  readonly answerLimitMs: number;
}

export const queryLimits: PoolLimits = { connections: QUERY_CONNECTIONS, answerLimitMs: ANSWER_LIMIT_MS };
export const recordLimits: PoolLimits = { ...queryLimits, connections: RECORD_CONNECTIONS };

/** For the lease of the process, which has lapsed when an answer takes longer. */
export const leaseLimits: PoolLimits = { connections: 1, answerLimitMs: 6_000 };

/** For what stays connected, such as a lock. */
export const oneConnection: PoolLimits = { ...queryLimits, connections: 1 };

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

/** How connections are set up. */
export interface ConnectionSetup {
  /**
   * Statements that set up the session. Sent once the connection is open: poolers refuse settings in the start message.
   */
  readonly settings: string;
  /**
   * Whether a connection may have prepared statements. They belong to its session, which no other connection may share:
   * the thread of the embedded database has them for all.
   */
  readonly preparesStatements: boolean;
}

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

export const serverSetup: ConnectionSetup = { settings: serverSettings, preparesStatements: true };

/** A pool with a bounded queue, whose connections are set up. */
export function boundedPool(pool: Pool, { settings, preparesStatements }: ConnectionSetup): PostgresPool {
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
      const ours = preparesStatements
        ? withPreparedStatements(client, async (query) => client.query(query))
        : withExtendedQueries(client);
      clients.set(client, ours);
      return ours;
    },
    end: async () => pool.end(),
  };
}

/**
 * The message of `pg-pool` when no connection was free in time; it has another one for a server that does not answer.
 */
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
