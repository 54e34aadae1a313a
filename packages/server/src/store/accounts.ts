/** Accounts. They are made by the first start and by the command line, never by a request. */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { inTransaction, type Db } from "./db.ts";
import { toStorableText } from "./json-text.ts";
import { AccountInUseError, DefaultAccountError } from "./store-errors.ts";

export interface AccountRow {
  readonly accountId: string;
  readonly name: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
  /** Calls from creation to end. */
  readonly activeCalls: number;
  /** Null: as many as the service has room for. */
  readonly allowedConcurrentCalls: number | null;
}

/** What an account may do at most. */
export interface AccountLimits {
  /** 0 and more; null: as many as the service has room for. */
  readonly allowedConcurrentCalls: number | null;
}

export const NO_ACCOUNT_LIMITS: AccountLimits = { allowedConcurrentCalls: null };

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

/** An account without a key; `createApiKey` makes one. */
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

/** For calls created from now on; those that run go on. Null: there is no such account. */
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

/** Accounts that are listed at most: the list is for the operator's screen. */
export const LISTED_ACCOUNTS = 10_000;

/** Every account, oldest first, and at most `LISTED_ACCOUNTS`. For the operator alone: no account may see another. */
export async function listAccounts(db: Db): Promise<readonly AccountRow[]> {
  const read = await sql<AccountRow>`
    select ${accountColumns} from accounts order by created_at, id limit ${LISTED_ACCOUNTS}`.execute(
    db.query,
  );
  return read.rows;
}

/** Calls erased in one statement: with their messages and event logs this stays far below a statement's time. */
const CALLS_PER_PORTION = 200;

/**
 * Erases an account with everything in it. Its keys stop working at once and calls can no longer be created; then its
 * calls go in portions, and the account last. After a failure in between, run it again. Recordings are noted for removal
 * by the nodes that have them, see `files-to-remove.ts`. False: there is no such account.
 * @throws AccountInUseError while calls run in it; nothing is changed then.
 * @throws DefaultAccountError for the account that every start makes sure of.
 */
export async function removeAccount(db: Db, accountId: string): Promise<boolean> {
  const known = await inTransaction(db, async (tx) => closeAccount(tx, accountId));
  db.apiKeyCache.clear();
  if (!known) return false;
  // Ends: no calls are added to a closed account but those that were being created when it was closed.
  while ((await eraseCalls(db, accountId)) === CALLS_PER_PORTION);
  return inTransaction(db, async (tx) => {
    if (!(await lockIdleAccount(tx, accountId))) return false;
    await eraseCalls(tx, accountId);
    await sql`delete from accounts where id = ${accountId}`.execute(tx.query);
    return true;
  });
}

/** @returns how many calls were erased, at most `CALLS_PER_PORTION` */
async function eraseCalls(db: Db, accountId: string): Promise<number> {
  const erased = await sql`
    with gone as (
      delete from calls where id in (
        select id from calls where account_id = ${accountId} and ended_at is not null limit ${CALLS_PER_PORTION})
      returning id, node_id, recording_is_shared, coalesce((settings ->> 'recordingEnabled')::boolean, false) as recorded
    ), files as (
      insert into files_to_remove (call_id, node_id, is_shared, due_at)
      select id, node_id, recording_is_shared, ${new Date()}::timestamptz from gone where recorded
    )
    select id from gone`.execute(db.query);
  return erased.rows.length;
}

async function closeAccount(tx: Db, accountId: string): Promise<boolean> {
  if (!(await lockIdleAccount(tx, accountId))) return false;
  await sql`delete from api_keys where account_id = ${accountId}`.execute(tx.query);
  await sql`update accounts set removed_at = coalesce(removed_at, ${new Date()}::timestamptz)
    where id = ${accountId}`.execute(tx.query);
  return true;
}

/** Locks it against everything that refers to it, until the end of the transaction. False: there is none. */
async function lockIdleAccount(tx: Db, accountId: string): Promise<boolean> {
  const locked = await sql<{ is_default: boolean }>`
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
