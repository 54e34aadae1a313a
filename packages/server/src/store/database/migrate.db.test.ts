import { sql } from "kysely";
import { expect, it } from "vitest";
import { migrate, readMigrations, type Migration } from "./migrate.ts";
import { openStore } from "../opening/open-store.ts";
import { StoreStartError } from "./store-errors.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { createAgent } from "../agents/agents.ts";

function next(known: readonly Migration[], text: string): Migration[] {
  const version = known.length + 1;
  return [...known, { version, name: `000${version}_next.sql`, sql: text }];
}

describeOnBothDatabases("migrations", (current) => {
  it("do nothing the second time", async () => {
    const { db } = current();
    const known = await readMigrations();
    expect(await migrate(db.query, known)).toEqual([]);
    const rows = await sql<{ version: number; name: string }>`
      select version, name from schema_migrations order by version`.execute(db.query);
    expect(rows.rows).toEqual(known.map(({ version, name }) => ({ version, name })));
  });

  it("stop the start when an applied file has changed", async () => {
    const { db } = current();
    const changed = (await readMigrations()).map((each) => ({ ...each, sql: `${each.sql}-- changed\n` }));
    const failure = migrate(db.query, changed);
    await expect(failure).rejects.toThrow(StoreStartError);
    await expect(failure).rejects.toThrow(/0001_\w+\.sql has changed/);
  });

  it("take another kind of line break for the same file", async () => {
    const { db } = current();
    const known = (await readMigrations()).map((each) => ({
      ...each,
      sql: each.sql.replaceAll("\n", "\r\n"),
    }));
    expect(await migrate(db.query, known)).toEqual([]);
  });

  it("leave nothing of one that fails", async () => {
    const { db } = current();
    const broken = next(await readMigrations(), "create table half (id integer); select 1 / 0;");
    await expect(migrate(db.query, broken)).rejects.toThrow(/division by zero/);
    const half = await sql`select 1 from pg_class where relname = 'half'`.execute(db.query);
    expect(half.rows).toEqual([]);
    expect(await migrate(db.query, await readMigrations())).toEqual([]);
  });

  it("are applied once by several starts at the same time, and stop an older version", async () => {
    const { db } = current();
    const known = await readMigrations();
    const newer = next(known, "create table added (id integer primary key); insert into added values (1);");
    const applied = await Promise.all([1, 2, 3].map(async () => migrate(db.query, newer)));
    expect(applied.flat()).toEqual([newer.at(-1)?.name]);
    await expect(migrate(db.query, known)).rejects.toThrow(/newer than this version/);
    await sql`drop table added`.execute(db.query);
    await sql`delete from schema_migrations where version = ${newer.length}`.execute(db.query);
  });
});

describeOnBothDatabases("opening", (current) => {
  it("refuses another key than the one that sealed, and leaves the database usable", async () => {
    const { store, db, dataDir, databaseUrl, secretsKey } = current();
    const accountId = await newAccount(db);
    const secret = { sharedSecrets: ["shared-secret-0123456789"] };
    await createAgent(db, accountId, { name: "a", callTemplate: secret });
    await store.ping();
    await store.close();
    await store.close();
    await expect(store.ping()).rejects.toThrow(/destroyed|ended/);
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const otherKey = secretsKey.map((byte) => byte ^ 1);
    const refused = openStore({ dataDir, databaseUrl, secretsKey: otherKey, log });
    await expect(refused).rejects.toThrow(StoreStartError);
    await expect(refused).rejects.toThrow(/^SECRETS_KEY /);
    const again = await openStore({ dataDir, databaseUrl, secretsKey, log });
    expect(again.kind).toBe(store.kind);
    const agents = await sql<{ count: number }>`select count(*) as count from agents`.execute(again.db.query);
    expect(agents.rows).toEqual([{ count: 1 }]);
    await again.close();
  });
});
