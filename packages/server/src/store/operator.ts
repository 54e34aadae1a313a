/** Look-ups across accounts, for the person who runs the service. No request reaches them. */

import { sql } from "kysely";
import { type AccountRow, getAccount } from "./accounts.ts";
import type { Db } from "./db.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** By its id, or `default`. */
export async function findAccount(db: Db, named: string): Promise<AccountRow | null> {
  if (UUID.test(named)) return getAccount(db, named.toLowerCase());
  if (named !== "default") return null;
  const read = await sql<{ id: string }>`select id from accounts where is_default`.execute(db.query);
  const id = read.rows[0]?.id;
  return id === undefined ? null : getAccount(db, id);
}

export async function findAccountOfApiKey(db: Db, prefix: string): Promise<string | null> {
  const read = await sql<{ accountId: string }>`
    select account_id as "accountId" from api_keys where prefix = ${prefix}`.execute(db.query);
  return read.rows[0]?.accountId ?? null;
}

/** A connection that has just been closed may still be listed for a moment. */
const LISTED_LIMIT_MS = 2_000;
const LOOK_AGAIN_MS = 100;

/**
 * The names that other clients gave their connections to the same PostgreSQL database, one for each connection. All of
 * them: what a service calls itself can be set in DATABASE_URL.
 */
export async function otherConnections(db: Db): Promise<readonly string[]> {
  for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
    // Of other users' connections an ordinary user does not see the kind; those of the server itself have no user.
    const read = await sql<{ name: string | null }>`
      select application_name as name from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and usesysid is not null
        and coalesce(backend_type, 'client backend') = 'client backend'
      order by application_name`.execute(db.query);
    if (read.rows.length === 0 || waitedMs >= LISTED_LIMIT_MS) {
      return read.rows.map(({ name }) => (name === null || name === "" ? "unnamed" : name));
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
