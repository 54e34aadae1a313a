/** Accounts. They are made by the first start and by the command line, never by a request. */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "./db.ts";

export interface AccountRow {
  readonly accountId: string;
  readonly name: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
  /** Calls from creation to end. */
  readonly activeCalls: number;
}

const DEFAULT_ACCOUNT_NAME = "default";

/** The account of the deployment's own key, made at the first start. Safe to call from several processes at once. */
export async function ensureDefaultAccount(
  db: Db,
): Promise<{ readonly accountId: string; readonly created: boolean }> {
  const inserted = await sql<{ id: string }>`
    insert into accounts (id, name, is_default, created_at)
    values (${randomUUID()}, ${DEFAULT_ACCOUNT_NAME}, true, ${new Date()})
    on conflict do nothing returning id`.execute(db.query);
  const own = inserted.rows[0];
  if (own !== undefined) return { accountId: own.id, created: true };
  const existing = await db.query
    .selectFrom("accounts")
    .select("id")
    .where("is_default", "=", true)
    .executeTakeFirstOrThrow();
  return { accountId: existing.id, created: false };
}

export async function createAccount(db: Db, name: string): Promise<AccountRow> {
  const accountId = randomUUID();
  const createdAt = new Date();
  await db.query
    .insertInto("accounts")
    .values({ id: accountId, name, is_default: false, created_at: createdAt })
    .execute();
  return { accountId, name, createdAt: createdAt.toISOString(), activeCalls: 0 };
}

export async function getAccount(db: Db, accountId: string): Promise<AccountRow | null> {
  const read = await sql<AccountRow>`
    select id as "accountId", name, created_at as "createdAt",
      (select count(*) from calls where account_id = accounts.id and ended_at is null) as "activeCalls"
    from accounts where id = ${accountId}`.execute(db.query);
  return read.rows[0] ?? null;
}
