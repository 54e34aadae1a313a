/** Connections to the embedded database, of this process or of another one. */

import { Pool } from "pg";
import { CONNECTION_LIMIT_MS, type ConnectionSetup, type PoolLimits } from "../database/pool.ts";
import { valueParsers } from "../database/value-parsers.ts";
import { ADMIN_SOCKET_PORT } from "./admin-socket.ts";
import type { EmbeddedEngine } from "./embedded-engine.ts";
import { EMBEDDED_SETTINGS } from "./turns.ts";

/** All connections share one session, whose thread prepares statements itself. */
export const embeddedSetup: ConnectionSetup = { settings: EMBEDDED_SETTINGS, preparesStatements: false };

/** In this process. */
export function embeddedPool(engine: EmbeddedEngine, limits: PoolLimits): Pool {
  return new Pool({
    stream: () => engine.connect(),
    max: limits.connections,
    connectionTimeoutMillis: CONNECTION_LIMIT_MS,
    query_timeout: limits.answerLimitMs,
    idleTimeoutMillis: 0,
    types: valueParsers,
    // No name is resolved and no password is needed. They are set because `pg` would read them from the environment.
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
