import { sql } from "kysely";
import { expect, it, vi } from "vitest";
import { ensureDefaultAccount, getAccount } from "./accounts.ts";
import {
  authenticateKey,
  createApiKey,
  createApiKeyBy,
  deleteApiKey,
  ensureApiKey,
  ensureFirstApiKey,
  getApiKey,
  listApiKeys,
  revokeApiKey,
} from "./api-keys.ts";
import { listAuditEntries } from "./audit-log.ts";
import { replaceUnusedFirstKey } from "./first-key.ts";
import {
  ExpiryOutOfBoundsError,
  LastApiKeyError,
  MoreRightsError,
  StoreStartError,
} from "../database/store-errors.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

const firstPage = { limit: 10, after: null, direction: "forward" } as const;
const plain = { name: "key", creator: null, expiryDate: null } as const;

/** The same prefix with another secret. */
function otherSecret(secret: string): string {
  return `${secret.slice(0, 9)}${secret[9] === "a" ? "b" : "a"}${secret.slice(10)}`;
}

describeOnBothDatabases("accounts", (current) => {
  it("makes the default account once, however many start at the same time", async () => {
    const { db } = current();
    const made = await Promise.all(Array.from({ length: 8 }, async () => ensureDefaultAccount(db)));
    expect(new Set(made.map(({ accountId }) => accountId)).size).toBe(1);
    expect(made.filter(({ created }) => created)).toHaveLength(1);
    expect(await getAccount(db, made[0]?.accountId ?? "")).toMatchObject({ name: "default", activeCalls: 0 });
  });
});

describeOnBothDatabases("api keys", (current) => {
  it("authenticates a key and stores only its hash", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const created = await createApiKey(db, accountId, { ...plain, creator: "command line" });
    expect(created.secret).toMatch(/^[a-zA-Z0-9]{8}\.[a-zA-Z0-9]{32}$/);
    expect(await authenticateKey(db, created.secret)).toEqual({
      accountId,
      prefix: created.prefix,
      name: "key",
      scopes: null,
    });
    const { secret, ...row } = created;
    expect(await getApiKey(db, accountId, created.prefix)).toEqual(row);
    const raw = await sql<{ row: string }>`
      select api_keys::text as row from api_keys where prefix = ${created.prefix}`.execute(db.query);
    expect(raw.rows[0]?.row).not.toContain(secret.slice(9));
  });

  it("lets keys expire by the clock of the database, whatever the clock of the node says", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const inAnHour = new Date(Date.now() + 3_600_000);
    const anHourAgo = new Date(Date.now() - 3_600_000);
    const valid = await createApiKey(db, accountId, { ...plain, expiryDate: inAnHour.toISOString() });
    const expired = await createApiKey(db, accountId, { ...plain, expiryDate: anHourAgo.toISOString() });
    for (const offMs of [-86_400_000, 86_400_000]) {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + offMs });
      try {
        expect(await authenticateKey(db, valid.secret)).not.toBeNull();
        expect(await authenticateKey(db, expired.secret)).toBeNull();
        // The other one has expired.
        await expect(revokeApiKey(db, accountId, valid.prefix)).rejects.toThrow(LastApiKeyError);
      } finally {
        vi.useRealTimers();
      }
      db.apiKeyCache.clear();
    }
  });

  it("refuses every other key", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { secret } = await createApiKey(db, accountId, plain);
    const unknown = `AAAAAAA0.${"a".repeat(32)}`;
    for (const presented of [
      "",
      "x",
      secret.slice(1),
      `${secret}x`,
      `${secret}\n`,
      otherSecret(secret),
      unknown,
    ]) {
      expect(await authenticateKey(db, presented)).toBeNull();
    }
  });

  it("stops taking a key when it expires", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const past = await createApiKey(db, accountId, { ...plain, expiryDate: "2020-01-01T01:00:00+01:00" });
    expect(past.expiryDate).toBe("2020-01-01T00:00:00.000Z");
    expect(await authenticateKey(db, past.secret)).toBeNull();
    const future = await createApiKey(db, accountId, { ...plain, expiryDate: "2120-01-01T00:00:00Z" });
    expect(await authenticateKey(db, future.secret)).not.toBeNull();
  });

  it("revokes at once and permanently", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const key = await createApiKey(db, accountId, plain);
    await createApiKey(db, accountId, plain);
    expect(await authenticateKey(db, key.secret)).not.toBeNull();
    expect(await revokeApiKey(db, accountId, key.prefix)).toMatchObject({
      prefix: key.prefix,
      revoked: true,
    });
    expect(await authenticateKey(db, key.secret)).toBeNull();
    expect(await revokeApiKey(db, accountId, key.prefix)).toMatchObject({ revoked: true });
  });

  it("deletes at once", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const key = await createApiKey(db, accountId, plain);
    await createApiKey(db, accountId, plain);
    expect(await authenticateKey(db, key.secret)).not.toBeNull();
    expect(await deleteApiKey(db, accountId, key.prefix)).toBe(true);
    expect(await authenticateKey(db, key.secret)).toBeNull();
    expect(await deleteApiKey(db, accountId, key.prefix)).toBe(false);
    expect(await getApiKey(db, accountId, key.prefix)).toBeNull();
  });

  it("keeps the last valid key, counting neither revoked nor expired ones", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const last = await createApiKey(db, accountId, plain);
    const revoked = await createApiKey(db, accountId, plain);
    await createApiKey(db, accountId, { ...plain, expiryDate: "2020-01-01T00:00:00Z" });
    await revokeApiKey(db, accountId, revoked.prefix);
    await expect(revokeApiKey(db, accountId, last.prefix)).rejects.toThrow(LastApiKeyError);
    await expect(deleteApiKey(db, accountId, last.prefix)).rejects.toThrow(LastApiKeyError);
    expect(await authenticateKey(db, last.secret)).not.toBeNull();
    // An invalid key can always be deleted.
    expect(await deleteApiKey(db, accountId, revoked.prefix)).toBe(true);
  });

  it("counts only keys that may do everything as the last key", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const full = await createApiKey(db, accountId, plain);
    const calls = await createApiKey(db, accountId, { ...plain, scopes: ["read", "calls"] });
    await expect(revokeApiKey(db, accountId, full.prefix)).rejects.toThrow(LastApiKeyError);
    const admin = await createApiKey(db, accountId, { ...plain, scopes: ["admin"] });
    expect(await revokeApiKey(db, accountId, full.prefix)).toMatchObject({ revoked: true });
    await expect(deleteApiKey(db, accountId, admin.prefix)).rejects.toThrow(LastApiKeyError);
    expect(await deleteApiKey(db, accountId, calls.prefix)).toBe(true);
  });

  it("gives the scopes of a key with its account", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const made = await createApiKey(db, accountId, { ...plain, scopes: ["read", "calls"] });
    expect(await authenticateKey(db, made.secret)).toMatchObject({ scopes: ["read", "calls"] });
    // From the cache.
    expect(await authenticateKey(db, made.secret)).toMatchObject({ scopes: ["read", "calls"] });
    expect((await getApiKey(db, accountId, made.prefix))?.scopes).toEqual(["read", "calls"]);
  });

  it("never creates a key with more scopes than its creator, or a later end", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const hours = (count: number): string => new Date(Date.now() + count * 3_600_000).toISOString();
    const made = await createApiKey(db, accountId, { ...plain, scopes: ["calls"], expiryDate: hours(2) });
    const by = async (creator: string, changes: object) =>
      createApiKeyBy(db, accountId, {
        ...plain,
        scopes: ["calls"],
        expiryDate: hours(1),
        ...changes,
        creator,
      });
    expect(await by(made.prefix, {})).toMatchObject({ scopes: ["calls"], creator: made.prefix });
    expect(await by(made.prefix, { scopes: ["read"] })).toMatchObject({ scopes: ["read"] });
    for (const more of [{ scopes: ["calls", "admin"] }, { scopes: null }]) {
      await expect(by(made.prefix, more)).rejects.toThrow(/more scopes/);
    }
    for (const longer of [{ expiryDate: hours(3) }, { expiryDate: null }]) {
      await expect(by(made.prefix, longer)).rejects.toThrow(/must not end later/);
    }
    const full = await createApiKey(db, accountId, plain);
    for (const scopes of [null, ["admin"]]) {
      expect(await by(full.prefix, { scopes, expiryDate: null })).toMatchObject({ scopes, expiryDate: null });
    }
    await revokeApiKey(db, accountId, full.prefix);
    await expect(by(full.prefix, {})).rejects.toThrow(MoreRightsError);
    await expect(by("Strange1", {})).rejects.toThrow(MoreRightsError);
    expect((await listApiKeys(db, accountId, firstPage)).total).toBe(6);
  });

  it("takes ends from now to a hundred years ahead, by the clock of the database", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { prefix: creator } = await createApiKey(db, accountId, plain);
    const year = new Date().getUTCFullYear();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 10 * 365 * 86_400_000 });
    try {
      const till = async (expiryDate: string) =>
        createApiKeyBy(db, accountId, { name: "k", creator, expiryDate });
      await expect(till(`${String(year - 1)}-01-01T00:00:00Z`)).rejects.toThrow(ExpiryOutOfBoundsError);
      await expect(till(`${String(year + 101)}-01-01T00:00:00Z`)).rejects.toThrow(/100 years/);
      expect(await till(`${String(year + 99)}-01-01T00:00:00Z`)).toBeDefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it("keeps one key when all are revoked at the same time", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const keys = await Promise.all(Array.from({ length: 5 }, async () => createApiKey(db, accountId, plain)));
    const outcomes = await Promise.allSettled(
      keys.map(async ({ prefix }) => revokeApiKey(db, accountId, prefix)),
    );
    expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(1);
    const left = await listApiKeys(db, accountId, firstPage);
    expect(left.rows.filter(({ revoked }) => !revoked)).toHaveLength(1);
  });

  it("ensures the key of API_KEY, again and again", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const secret = `Ensured1.${"b".repeat(32)}`;
    await Promise.all([ensureApiKey(db, accountId, secret), ensureApiKey(db, accountId, secret)]);
    await ensureApiKey(db, accountId, secret);
    expect(await authenticateKey(db, secret)).toEqual({
      accountId,
      prefix: "Ensured1",
      name: "API_KEY",
      scopes: null,
    });
    expect((await listApiKeys(db, accountId, firstPage)).total).toBe(1);
  });

  it("says what is wrong with API_KEY", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const secret = `Ensured2.${"b".repeat(32)}`;
    await expect(ensureApiKey(db, accountId, "short")).rejects.toThrow(StoreStartError);
    await ensureApiKey(db, accountId, secret);
    await expect(ensureApiKey(db, accountId, otherSecret(secret))).rejects.toThrow(/another key/);
    await expect(ensureApiKey(db, await newAccount(db), secret)).rejects.toThrow(/another key/);
    await createApiKey(db, accountId, plain);
    await revokeApiKey(db, accountId, "Ensured2");
    await expect(ensureApiKey(db, accountId, secret)).rejects.toThrow(/revoked/);
  });

  it("makes the first key once", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const made = await Promise.all(Array.from({ length: 4 }, async () => ensureFirstApiKey(db, accountId)));
    const [first] = made.filter((key) => key !== null);
    expect(made.filter((key) => key !== null)).toHaveLength(1);
    expect(await authenticateKey(db, first?.secret ?? "")).not.toBeNull();
    expect((await listAuditEntries(db, accountId, {}, firstPage)).rows).toMatchObject([
      { operation: "createApiKey", via: "start", keyPrefix: null, targetId: first?.prefix },
    ]);
  });

  it("replaces a first key only while it is the only one and no request has used it", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const lost = await ensureFirstApiKey(db, accountId);
    const second = await replaceUnusedFirstKey(db, accountId);
    expect(await authenticateKey(db, lost?.secret ?? "")).toBeNull();
    const other = await createApiKey(db, accountId, plain);
    expect(await replaceUnusedFirstKey(db, accountId)).toBeNull();
    await deleteApiKey(db, accountId, other.prefix);
    const third = await replaceUnusedFirstKey(db, accountId);
    expect(third?.prefix).not.toBe(second?.prefix);
    expect(await authenticateKey(db, third?.secret ?? "")).not.toBeNull();
    expect(await replaceUnusedFirstKey(db, accountId)).toBeNull();
  });

  it("replaces no key that was created in another way", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    await createApiKey(db, accountId, plain);
    expect(await replaceUnusedFirstKey(db, accountId)).toBeNull();
  });

  it("isolates accounts", async () => {
    const { db } = current();
    const [owner, stranger] = [await newAccount(db), await newAccount(db)];
    const key = await createApiKey(db, owner, plain);
    await createApiKey(db, owner, plain);
    await createApiKey(db, stranger, plain);
    expect(await getApiKey(db, stranger, key.prefix)).toBeNull();
    expect(await revokeApiKey(db, stranger, key.prefix)).toBeNull();
    expect(await deleteApiKey(db, stranger, key.prefix)).toBe(false);
    expect((await listApiKeys(db, stranger, firstPage)).total).toBe(1);
    expect((await listApiKeys(db, owner, firstPage)).rows.map(({ prefix }) => prefix)).toContain(key.prefix);
    expect(await authenticateKey(db, key.secret)).toEqual({
      accountId: owner,
      prefix: key.prefix,
      name: "key",
      scopes: null,
    });
  });
});
