/** API keys: `prefix.secret`. Only the SHA-256 hash of the whole key is stored. */

import { randomInt } from "node:crypto";
import { allowsAllOf, MAX_API_KEY_YEARS, type Scopes } from "@parley/schema";
import { sql, type RawBuilder } from "kysely";
import type { AuthenticatedKey } from "../database/api-key-cache.ts";
import type { Row } from "../database/database.ts";
import { databaseTime } from "../database/database-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toStorableText } from "../database/json-text.ts";
import { newestFirst, readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { recordOperatorChange } from "./audit-log.ts";
import { hashToken, isHashOf } from "../secrets/secrets.ts";
import { isUnusedFirstKey, markFirstKeyUnused, markFirstKeyUsed } from "./first-key-mark.ts";
import {
  ExpiryOutOfBoundsError,
  LastApiKeyError,
  MoreRightsError,
  StoreStartError,
} from "../database/store-errors.ts";

/** Dates are ISO 8601 UTC with milliseconds. */
export interface ApiKeyRow {
  readonly prefix: string;
  readonly name: string;
  readonly createdAt: string;
  /** Who created it: the prefix of a key, `command line`, or null. */
  readonly creator: string | null;
  readonly expiryDate: string | null;
  readonly scopes: Scopes;
  readonly revoked: boolean;
}

export interface CreatedApiKey extends ApiKeyRow {
  /** The whole key. It is shown once and stored nowhere. */
  readonly secret: string;
}

export interface NewApiKey {
  readonly name: string;
  readonly creator: string | null;
  /** ISO 8601 with an offset, or null for a key that does not expire. */
  readonly expiryDate: string | null;
  /** Absent: the key may do everything. */
  readonly scopes?: Scopes;
}

const keyForm = /^[a-zA-Z0-9]{8}\.[a-zA-Z0-9]{32}$/;
const PREFIX_LENGTH = 8;
const SECRET_LENGTH = 32;
const keyLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Prefixes collide once in 218 million million. The limit ends the loop if the random source is broken. */
const MAXIMUM_PREFIX_ATTEMPTS = 5;

export async function createApiKey(db: Db, accountId: string, key: NewApiKey): Promise<CreatedApiKey> {
  for (let attempt = 0; attempt < MAXIMUM_PREFIX_ATTEMPTS; attempt += 1) {
    const secret = `${randomLetters(PREFIX_LENGTH)}.${randomLetters(SECRET_LENGTH)}`;
    const row = await insertApiKey(db, accountId, secret, key);
    if (row !== null) return { ...row, secret };
  }
  throw new Error("No free API key prefix was found.");
}

/**
 * Creates a key by request of another key of the account, whose prefix is `creator`.
 * @throws MoreRightsError when the new key would be allowed more, or for longer, than its creator;
 * ExpiryOutOfBoundsError for an end that has passed or is too far ahead. Times are those of the database.
 */
export async function createApiKeyBy(
  db: Db,
  accountId: string,
  key: NewApiKey & { readonly creator: string },
): Promise<CreatedApiKey> {
  return inTransaction(db, async (tx) => {
    await lockKeysOf(tx, accountId);
    const { expiryDate, scopes = null } = key;
    const read = await sql<CreatorColumns>`
      select scopes, expires_at as "expiryDate",
        (${expiryDate}::timestamptz is null or ${expiryDate}::timestamptz > ${databaseTime}) as "isAhead",
        (${expiryDate}::timestamptz is null
          or ${expiryDate}::timestamptz <= ${databaseTime} + make_interval(years => ${MAX_API_KEY_YEARS})) as "isNear"
      from api_keys where prefix = ${key.creator} and account_id = ${accountId} and ${isValid()}`.execute(
      tx.query,
    );
    const [creator] = read.rows;
    // Revoked or expired since it was checked.
    if (creator === undefined) throw new MoreRightsError("The API key of this request no longer works.");
    if (!creator.isAhead) throw new ExpiryOutOfBoundsError("must be in the future");
    if (!creator.isNear) {
      throw new ExpiryOutOfBoundsError(`must be at most ${MAX_API_KEY_YEARS} years ahead`);
    }
    if (!allowsAllOf(creator.scopes, scopes)) {
      throw new MoreRightsError("An API key cannot create a key with more scopes than its own.");
    }
    const { expiryDate: end } = creator;
    if (end !== null && (expiryDate === null || Date.parse(expiryDate) > Date.parse(end))) {
      throw new MoreRightsError(`This API key ends at ${end}; a key that it creates must not end later.`);
    }
    return createApiKey(tx, accountId, key);
  });
}

interface CreatorColumns {
  readonly scopes: Scopes;
  readonly expiryDate: string | null;
  readonly isAhead: boolean;
  readonly isNear: boolean;
}

/**
 * Creates a key for an account that has none, valid or not. Null: it has one. `keep` gets the key before it is committed,
 * again if the transaction is repeated; when it throws, no key is created. Without `keep` the key counts as unused until
 * a request uses it.
 */
export async function ensureFirstApiKey(
  db: Db,
  accountId: string,
  keep: ((secret: string) => Promise<void>) | null = null,
): Promise<CreatedApiKey | null> {
  return inTransaction(db, async (tx) => {
    await lockKeysOf(tx, accountId);
    const present = await sql`select 1 from api_keys where account_id = ${accountId} limit 1`.execute(
      tx.query,
    );
    if (present.rows.length > 0) return null;
    const made = await createFirstApiKey(tx, accountId);
    if (keep === null) await markFirstKeyUnused(tx, made.prefix);
    else await keep(made.secret);
    return made;
  });
}

export async function createFirstApiKey(tx: Db, accountId: string): Promise<CreatedApiKey> {
  const made = await createApiKey(tx, accountId, { name: "first key", creator: null, expiryDate: null });
  await recordStart(tx, accountId, made);
  return made;
}

/**
 * Makes sure that the given key is valid for the account.
 * @throws StoreStartError with a sentence about API_KEY when it has the wrong form, its prefix belongs to another key,
 * or it was revoked or has expired.
 */
export async function ensureApiKey(db: Db, accountId: string, secret: string): Promise<void> {
  if (!keyForm.test(secret)) {
    throw new StoreStartError("API_KEY must be 8 letters or digits, a dot, and 32 letters or digits.");
  }
  await inTransaction(db, async (tx) => {
    const made = await insertApiKey(tx, accountId, secret, {
      name: "API_KEY",
      creator: null,
      expiryDate: null,
    });
    if (made !== null) await recordStart(tx, accountId, made);
  });
  const stored = await db.query
    .selectFrom("api_keys")
    .select(["account_id", "hash", "revoked_at", millisecondsLeft.as("leftMs")])
    .where("prefix", "=", prefixOf(secret))
    .executeTakeFirstOrThrow();
  if (stored.account_id !== accountId || !isHashOf(stored.hash, secret)) {
    throw new StoreStartError(
      "API_KEY begins like another key that is stored already; choose other letters.",
    );
  }
  if (stored.revoked_at !== null) throw new StoreStartError("API_KEY names a key that has been revoked.");
  if (stored.leftMs !== null && stored.leftMs <= 0) {
    throw new StoreStartError("API_KEY names a key that has expired.");
  }
}

async function recordStart(tx: Db, accountId: string, { prefix, name }: ApiKeyRow): Promise<void> {
  const target = { id: prefix, name };
  await recordOperatorChange(tx, accountId, { operation: "createApiKey", via: "start", target });
}

/** Null for every invalid key, whatever the reason. */
export async function authenticateKey(db: Db, presented: string): Promise<AuthenticatedKey | null> {
  if (!keyForm.test(presented)) return null;
  const hash = hashToken(presented);
  return db.apiKeyCache.find(hash, async () => {
    const prefix = prefixOf(presented);
    const stored = await db.query
      .selectFrom("api_keys")
      .select(["account_id", "hash", "revoked_at", "name", "scopes", millisecondsLeft.as("leftMs")])
      .select(isUnusedFirstKey().as("isUnusedFirst"))
      .where("prefix", "=", prefix)
      .executeTakeFirst();
    // Unknown prefixes are compared as well, so that they take as long as a known prefix with a wrong secret.
    const matches = isHashOf(stored?.hash ?? hashToken(prefix), presented);
    if (stored === undefined || !matches || stored.revoked_at !== null) return null;
    const leftMs = stored.leftMs ?? Number.POSITIVE_INFINITY;
    if (leftMs <= 0) return null;
    if (stored.isUnusedFirst) await markFirstKeyUsed(db, prefix);
    const { account_id: accountId, name, scopes } = stored;
    return { accountId, prefix, name, scopes, leftMs };
  });
}

/** Until a key expires, by the clock of the database; null: it does not expire. */
const millisecondsLeft = sql<
  number | null
>`(extract(epoch from expires_at - ${databaseTime}) * 1000)::bigint`;

const KEY_COLUMNS = [
  "prefix",
  "name",
  "created_at",
  "creator",
  "expires_at",
  "revoked_at",
  "scopes",
] as const;

type ApiKeyColumns = Pick<Row<"api_keys">, (typeof KEY_COLUMNS)[number]>;

const keyColumns = sql.join(KEY_COLUMNS.map((name) => sql.ref(name)));

export async function getApiKey(db: Db, accountId: string, prefix: string): Promise<ApiKeyRow | null> {
  const read = await sql<ApiKeyColumns>`
    select ${keyColumns} from api_keys where prefix = ${prefix} and account_id = ${accountId}`.execute(
    db.query,
  );
  const columns = read.rows[0];
  return columns === undefined ? null : toApiKeyRow(columns);
}

/** Newest first. */
export async function listApiKeys(db: Db, accountId: string, page: PageQuery): Promise<PageRows<ApiKeyRow>> {
  const read = await readPage<ApiKeyColumns>(
    db,
    {
      columns: keyColumns,
      from: sql`api_keys`,
      where: [sql`account_id = ${accountId}`],
      ...newestFirst,
      id: sql`prefix`,
      idType: "text",
    },
    page,
  );
  return { ...read, rows: read.rows.map(toApiKeyRow) };
}

/**
 * Revokes a key at once and permanently; revoking it again changes nothing. Null: the account has no such key.
 * @throws LastApiKeyError for the account's last valid key that may do everything.
 */
export async function revokeApiKey(db: Db, accountId: string, prefix: string): Promise<ApiKeyRow | null> {
  return unlessLastFullKey(db, accountId, prefix, async (tx) => {
    await sql`update api_keys set revoked_at = coalesce(revoked_at, ${databaseTime})
      where prefix = ${prefix} and account_id = ${accountId}`.execute(tx.query);
    return getApiKey(tx, accountId, prefix);
  });
}

/**
 * False: the account has no such key.
 * @throws LastApiKeyError for the account's last valid key that may do everything.
 */
export async function deleteApiKey(db: Db, accountId: string, prefix: string): Promise<boolean> {
  const deleted = await unlessLastFullKey(db, accountId, prefix, async (tx) => {
    await tx.query
      .deleteFrom("api_keys")
      .where("prefix", "=", prefix)
      .where("account_id", "=", accountId)
      .execute();
    return true;
  });
  return deleted ?? false;
}

/**
 * Runs `act` unless this is the last valid key that may do everything: without one, nobody could create keys. Other
 * changes to the account's keys wait until it is done.
 */
async function unlessLastFullKey<Result>(
  db: Db,
  accountId: string,
  prefix: string,
  act: (tx: Db) => Promise<Result>,
): Promise<Result | null> {
  const result = await inTransaction(db, async (tx) => {
    await lockKeysOf(tx, accountId);
    const own = await sql<{ isFull: boolean }>`
      select ${isFull()} as "isFull" from api_keys where prefix = ${prefix} and account_id = ${accountId}`.execute(
      tx.query,
    );
    const key = own.rows[0];
    if (key === undefined) return null;
    if (key.isFull) {
      const others = await sql`
        select 1 from api_keys where account_id = ${accountId} and prefix <> ${prefix} and ${isFull()} limit 1`.execute(
        tx.query,
      );
      if (others.rows.length === 0) {
        throw new LastApiKeyError(
          "This is the account's last valid API key that may do everything; create another one first.",
        );
      }
    }
    return act(tx);
  });
  db.apiKeyCache.clear();
  return result;
}

export function isValid(): RawBuilder<boolean> {
  return sql<boolean>`(revoked_at is null and (expires_at is null or expires_at > ${databaseTime}))`;
}

/** Valid, and without a limit of scopes. */
function isFull(): RawBuilder<boolean> {
  return sql<boolean>`(${isValid()} and (scopes is null or 'admin' = any(scopes)))`;
}

/** Until the end of the transaction. */
export async function lockKeysOf(tx: Db, accountId: string): Promise<void> {
  await sql`select id from accounts where id = ${accountId} for update`.execute(tx.query);
}

/** Null when the prefix is taken. */
async function insertApiKey(
  db: Db,
  accountId: string,
  secret: string,
  key: NewApiKey,
): Promise<ApiKeyRow | null> {
  const inserted = await sql<ApiKeyColumns>`
    insert into api_keys (prefix, account_id, hash, name, creator, created_at, expires_at, scopes)
    values (${prefixOf(secret)}, ${accountId}, ${hashToken(secret)}, ${toStorableText(key.name)}, ${key.creator},
      ${new Date()}, ${key.expiryDate}, ${key.scopes ?? null}::text[])
    on conflict (prefix) do nothing returning ${keyColumns}`.execute(db.query);
  const columns = inserted.rows[0];
  return columns === undefined ? null : toApiKeyRow(columns);
}

function toApiKeyRow(columns: ApiKeyColumns): ApiKeyRow {
  return {
    prefix: columns.prefix,
    name: columns.name,
    createdAt: columns.created_at,
    creator: columns.creator,
    expiryDate: columns.expires_at,
    scopes: columns.scopes,
    revoked: columns.revoked_at !== null,
  };
}

function prefixOf(secret: string): string {
  return secret.slice(0, PREFIX_LENGTH);
}

function randomLetters(count: number): string {
  return Array.from({ length: count }, () => keyLetters.charAt(randomInt(keyLetters.length))).join("");
}
