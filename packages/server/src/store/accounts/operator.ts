/** Queries across accounts, for the operator. No request uses them. */

import { sql } from "kysely";
import { type AccountRow, getAccount } from "./accounts.ts";
import type { Db } from "../database/db.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** By its id, or `default`. */
export async function findAccount(db: Db, named: string): Promise<AccountRow | null> {
  if (UUID.test(named)) return getAccount(db, named.toLowerCase());
  if (named !== "default") return null;
  const account = await db.query
    .selectFrom("accounts")
    .select("id")
    .where("is_default", "=", true)
    .executeTakeFirst();
  return account === undefined ? null : getAccount(db, account.id);
}

export async function findAccountOfApiKey(db: Db, prefix: string): Promise<string | null> {
  const key = await db.query
    .selectFrom("api_keys")
    .select("account_id")
    .where("prefix", "=", prefix)
    .executeTakeFirst();
  return key?.account_id ?? null;
}

/** PostgreSQL may list a closed connection for a moment. */
const LISTED_LIMIT_MS = 2_000;
const POLL_INTERVAL_MS = 100;

/**
 * The application names of other connections to the same PostgreSQL database, one for each connection. Names are not
 * filtered, because DATABASE_URL can set any name for a service.
 */
export async function otherConnections(db: Db): Promise<readonly string[]> {
  for (let waitedMs = 0; ; waitedMs += POLL_INTERVAL_MS) {
    // An ordinary user cannot see the type of other users' connections. Connections of the server itself have no user.
    const read = await sql<{ name: string | null }>`
      select application_name as name from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and usesysid is not null
        and coalesce(backend_type, 'client backend') = 'client backend'
      order by application_name`.execute(db.query);
    if (read.rows.length === 0 || waitedMs >= LISTED_LIMIT_MS) {
      return read.rows.map(({ name }) => (name === null || name === "" ? "unnamed" : name));
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}
