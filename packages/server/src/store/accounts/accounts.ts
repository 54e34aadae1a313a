/** Accounts. The first start and the command line create them, never a request. */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Row } from "../database/database.ts";
import { databaseTime } from "../database/database-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toStorableText } from "../database/json-text.ts";
import { AccountInUseError, DefaultAccountError } from "../database/store-errors.ts";

export interface AccountRow {
  readonly accountId: string;
  readonly name: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
  /** Calls from creation to end. */
  readonly activeCalls: number;
  /** Null: no limit but that of the service. */
  readonly allowedConcurrentCalls: number | null;
}

/** Limits of an account. */
export interface AccountLimits {
  /** 0 and more; null: no limit but that of the service. */
  readonly allowedConcurrentCalls: number | null;
}

export const NO_ACCOUNT_LIMITS: AccountLimits = { allowedConcurrentCalls: null };

const DEFAULT_ACCOUNT_NAME = "default";

/** The account of the deployment's own key, created at the first start. Several processes may call this at once. */
export async function ensureDefaultAccount(
  db: Db,
): Promise<{ readonly accountId: string; readonly created: boolean }> {
  const inserted = await sql<Pick<Row<"accounts">, "id">>`
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

/** Whether it is the account of the deployment's own key. */
export async function isDefaultAccount(db: Db, accountId: string): Promise<boolean> {
  const account = await db.query
    .selectFrom("accounts")
    .select("is_default")
    .where("id", "=", accountId)
    .executeTakeFirst();
  return account?.is_default === true;
}

/** Creates an account without a key; `createApiKey` adds one. */
export async function createAccount(
  db: Db,
  name: string,
  limits: AccountLimits = NO_ACCOUNT_LIMITS,
): Promise<AccountRow> {
  const accountId = randomUUID();
  const createdAt = new Date();
  const { allowedConcurrentCalls } = limits;
  const stored = toStorableText(name);
  await db.query
    .insertInto("accounts")
    .values({
      id: accountId,
      name: stored,
      is_default: false,
      created_at: createdAt,
      allowed_concurrent_calls: allowedConcurrentCalls,
    })
    .execute();
  const shown = { accountId, name: stored, createdAt: createdAt.toISOString() };
  return { ...shown, activeCalls: 0, allowedConcurrentCalls };
}

/** Applies to calls created from now on; running calls continue. Null: there is no such account. */
export async function setAccountLimits(
  db: Db,
  accountId: string,
  { allowedConcurrentCalls }: AccountLimits,
): Promise<AccountRow | null> {
  await db.query
    .updateTable("accounts")
    .set({ allowed_concurrent_calls: allowedConcurrentCalls })
    .where("id", "=", accountId)
    .execute();
  return getAccount(db, accountId);
}

const accountColumns = sql`id as "accountId", name, created_at as "createdAt",
  allowed_concurrent_calls as "allowedConcurrentCalls",
  (select count(*) from calls where account_id = accounts.id and ended_at is null) as "activeCalls"`;

export async function getAccount(db: Db, accountId: string): Promise<AccountRow | null> {
  const read = await sql<AccountRow>`
    select ${accountColumns} from accounts where id = ${accountId}`.execute(db.query);
  return read.rows[0] ?? null;
}

/** Limit of the list, which is printed on the operator's terminal. */
export const LISTED_ACCOUNTS = 10_000;

/** All accounts, oldest first, at most `LISTED_ACCOUNTS`. Only for the operator: no account may see another. */
export async function listAccounts(db: Db): Promise<readonly AccountRow[]> {
  const read = await sql<AccountRow>`
    select ${accountColumns} from accounts order by created_at, id limit ${LISTED_ACCOUNTS}`.execute(
    db.query,
  );
  return read.rows;
}

/** Calls deleted by one statement. With their messages and event logs it takes far less than the statement timeout. */
const CALLS_PER_PORTION = 200;

/**
 * Deletes an account with everything in it. Its keys stop working at once and no call can be created. Its calls are
 * then deleted in portions, and the account last. After a failure in between, run it again. Recordings are queued for
 * removal by the nodes that have them, see `files-to-remove.ts`. False: there is no such account.
 * @throws AccountInUseError while it has running calls; nothing is changed.
 * @throws DefaultAccountError for the default account, which every start would create again.
 */
export async function removeAccount(db: Db, accountId: string): Promise<boolean> {
  const known = await inTransaction(db, async (tx) => closeAccount(tx, accountId));
  db.apiKeyCache.clear();
  if (!known) return false;
  // Terminates: a closed account gets no calls except those whose creation was under way when it was closed.
  while ((await eraseCalls(db, accountId)) === CALLS_PER_PORTION);
  return inTransaction(db, async (tx) => {
    if (!(await lockIdleAccount(tx, accountId))) return false;
    await eraseCalls(tx, accountId);
    await tx.query.deleteFrom("accounts").where("id", "=", accountId).execute();
    return true;
  });
}

/** @returns the number of deleted calls, at most `CALLS_PER_PORTION` */
async function eraseCalls(db: Db, accountId: string): Promise<number> {
  const erased = await sql`
    with gone as (
      delete from calls where id in (
        select id from calls where account_id = ${accountId} and ended_at is not null limit ${CALLS_PER_PORTION})
      returning id, node_id, recording_is_shared, coalesce((settings ->> 'recordingEnabled')::boolean, false) as recorded
    ), files as (
      insert into files_to_remove (call_id, node_id, is_shared, due_at)
      select id, node_id, recording_is_shared, ${databaseTime} from gone where recorded
    )
    select id from gone`.execute(db.query);
  return erased.rows.length;
}

async function closeAccount(tx: Db, accountId: string): Promise<boolean> {
  if (!(await lockIdleAccount(tx, accountId))) return false;
  await tx.query.deleteFrom("api_keys").where("account_id", "=", accountId).execute();
  await sql`update accounts set removed_at = coalesce(removed_at, ${databaseTime})
    where id = ${accountId}`.execute(tx.query);
  return true;
}

/** Locks the account until the end of the transaction, also against new rows that refer to it. False: there is none. */
async function lockIdleAccount(tx: Db, accountId: string): Promise<boolean> {
  const locked = await sql<Pick<Row<"accounts">, "is_default">>`
    select is_default from accounts where id = ${accountId} for update`.execute(tx.query);
  const [account] = locked.rows;
  if (account === undefined) return false;
  if (account.is_default) throw new DefaultAccountError("The default account cannot be removed.");
  const active = await sql<{ count: number }>`
    select count(*) as count from calls where account_id = ${accountId} and ended_at is null`.execute(
    tx.query,
  );
  const count = active.rows[0]?.count ?? 0;
  if (count > 0) throw new AccountInUseError(`The account has calls that have not ended: ${count}.`);
  return true;
}
