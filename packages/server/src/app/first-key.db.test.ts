import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { authenticateKey } from "../store/accounts/api-keys.ts";
import type { Db } from "../store/database/db.ts";
import { describeOnBothDatabases } from "../store/testing/databases.ts";
import { ensureKeys } from "./first-key.ts";

const NODE_ID = randomUUID();

describeOnBothDatabases("the first key", (current) => {
  let folder = "";
  let db: Db;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "parley-key-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  beforeEach(async () => {
    ({ db } = current());
    await sql`delete from api_keys`.execute(db.query);
    db.apiKeyCache.clear();
  });
  const keys = async (): Promise<number> => (await sql`select 1 from api_keys`.execute(db.query)).rows.length;

  it("is written once to API_KEY_FILE, for its owner only", async () => {
    const path = join(folder, `key-${String(Math.random())}`);
    const made = await ensureKeys(db, { apiKey: null, apiKeyFile: path }, NODE_ID);
    expect(made?.file).toBe(path);
    expect(await readFile(path, "utf8")).toBe(`${made?.secret ?? ""}\n`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await authenticateKey(db, made?.secret ?? "")).not.toBeNull();
    // Later starts neither write nor need the file.
    expect(await ensureKeys(db, { apiKey: null, apiKeyFile: path }, NODE_ID)).toBeNull();
    await rm(path);
    expect(await ensureKeys(db, { apiKey: null, apiKeyFile: path }, NODE_ID)).toBeNull();
    await expect(stat(path)).rejects.toThrow(/ENOENT/);
  });

  it("never replaces a file, and makes no key that nobody would know", async () => {
    const path = join(folder, `other-${String(Math.random())}`);
    await writeFile(path, "of another service");
    await expect(ensureKeys(db, { apiKey: null, apiKeyFile: path }, NODE_ID)).rejects.toThrow(
      `API_KEY_FILE names ${path}, which exists already; move the file elsewhere, or name another one.`,
    );
    expect(await readFile(path, "utf8")).toBe("of another service");
    const missing = join(folder, "no folder", "key");
    await expect(ensureKeys(db, { apiKey: null, apiKeyFile: missing }, NODE_ID)).rejects.toThrow(
      new RegExp(`^API_KEY_FILE names ${missing}, which cannot be written \\(ENOENT`),
    );
    expect(await keys()).toBe(0);
  });

  it("leaves no file when the key is not stored", async () => {
    const path = join(folder, `lost-${String(Math.random())}`);
    await sql`create function refuse_key() returns trigger language plpgsql as
      $$ begin raise exception 'refused at the commit'; end $$`.execute(db.query);
    await sql`create constraint trigger refuse_key after insert on api_keys deferrable initially deferred
      for each row execute function refuse_key()`.execute(db.query);
    try {
      await expect(ensureKeys(db, { apiKey: null, apiKeyFile: path }, NODE_ID)).rejects.toThrow(
        /refused at the commit/,
      );
      await expect(stat(path)).rejects.toThrow(/ENOENT/);
    } finally {
      await sql`drop trigger refuse_key on api_keys`.execute(db.query);
      await sql`drop function refuse_key`.execute(db.query);
    }
  });

  it("is printed without API_KEY_FILE, and not made where API_KEY names one", async () => {
    const made = await ensureKeys(db, { apiKey: null, apiKeyFile: null }, NODE_ID);
    expect(made?.file).toBeNull();
    expect(made?.secret).toMatch(/^[a-zA-Z0-9]{8}\./);
    const path = join(folder, "unused");
    const apiKey = `Given123.${"b".repeat(32)}`;
    expect(await ensureKeys(db, { apiKey, apiKeyFile: path }, NODE_ID)).toBeNull();
    await expect(stat(path)).rejects.toThrow(/ENOENT/);
  });
});
