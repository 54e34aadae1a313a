import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { Client as DatabaseClient } from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createSealer } from "../store/secrets/secrets.ts";
import type { Db } from "../store/database/db.ts";
import { openStore, type Store } from "../store/opening/open-store.ts";
import { saveEventLog, saveEventLogChunk } from "../store/calls/call-event-logs.ts";
import { contextOf, keyColumnsOf, SEALED_COLUMNS } from "../store/secrets/sealed-columns.ts";
import { rotateSecrets, sealedColumnsOf } from "../store/secrets/secrets-rotation.ts";
import {
  describeOnBothDatabases,
  newAccount,
  openEmbeddedTestStore,
  openServerTestStore,
  type TestStore,
} from "../store/testing/databases.ts";
import { type Client, newClient, openTestServer } from "../http/testing/http-fixture.ts";
import { makeSamples } from "../http/testing/samples/samples.ts";
import { environmentOf, parley } from "./testing/run.ts";

const newKey = (): Uint8Array => new Uint8Array(randomBytes(32));
const inBase64 = (key: Uint8Array): string => Buffer.from(key).toString("base64");
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Stores a secret in as many tables as requests reach, and in the records that calls leave. */
async function fill(store: TestStore): Promise<Client> {
  const server = await openTestServer(store);
  const owner = await newClient(server, store.db);
  const ids = await makeSamples(owner);
  const headers = { Authorization: "Bearer of a secret" };
  const dataConnection = { websocketUrl: "wss://data.example", headers };
  const medium = { serverWebSocket: { inputSampleRate: 8000 } };
  const template = { dataConnection, medium };
  expect((await owner.post("/api/agents", { callTemplate: template })).status).toBe(201);
  const call = await owner.post("/api/calls", { medium, dataConnection });
  expect(call.status).toBe(201);
  await owner.patch("/api/sip", { fallbackHandler: { url: "https://sip.example" } });
  const http = { baseUrlPattern: "https://tool.example", httpMethod: "GET" };
  const parameter = {
    name: "Authorization",
    location: "PARAMETER_LOCATION_HEADER",
    value: "Bearer of another",
  };
  const tool = await owner.post("/api/tools", {
    name: "t",
    definition: { http, staticParameters: [parameter] },
  });
  expect(tool.status).toBe(201);
  const callId = String(call.json["callId"]);
  await saveEventLog(store.db, owner.accountId, callId, { error: "x", plan: {}, events: [] });
  await saveEventLogChunk(store.db, owner.accountId, callId, { index: 0, eventCount: 1, text: "{}\n" });
  expect(ids).toHaveProperty("registration_id");
  await server.close();
  return owner;
}

/** Every sealed text that opens with the key, by its column; and the number of all sealed texts. */
async function sealedTexts(db: Db): Promise<{ readonly column: string; readonly keyId: string }[]> {
  const found: { column: string; keyId: string }[] = [];
  for (const place of await sealedColumnsOf(db)) {
    const names = sql.join(keyColumnsOf(place).map((name) => sql.ref(name)));
    const rows = await sql<Record<string, unknown> & { sealed: string }>`
      select ${names}, ${sql.ref(place.column)} as sealed from ${sql.table(place.table)}
      where ${sql.ref(place.column)} is not null`.execute(db.query);
    for (const row of rows.rows) {
      db.sealer.open(row.sealed, contextOf(place, row));
      found.push({ column: `${place.table}.${place.column}`, keyId: row.sealed.split(".")[1] ?? "" });
    }
  }
  return found;
}

/** Names of the columns in which any text begins like one that was sealed under the key. */
async function columnsUnder(db: Db, keyId: string): Promise<string[]> {
  const columns = await sql<{ table: string; column: string }>`
    select c.table_name as "table", c.column_name as "column" from information_schema.columns as c
    join information_schema.tables as t using (table_schema, table_name)
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'`.execute(db.query);
  const under: string[] = [];
  for (const { table, column } of columns.rows) {
    const found = await sql`select 1 from ${sql.table(table)}
      where ${sql.ref(column)}::text like ${`%v1.${keyId}.%`} limit 1`.execute(db.query);
    if (found.rows.length > 0) under.push(`${table}.${column}`);
  }
  return under;
}

describeOnBothDatabases("the list of sealed columns", (current) => {
  it("has every column of the database that is named so", async () => {
    const found = await sealedColumnsOf(current().db);
    expect(found.length).toBeGreaterThan(10);
    const names = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it("names rows by their primary keys", async () => {
    for (const place of await sealedColumnsOf(current().db)) {
      const key = await sql<{ column: string }>`
        select a.attname as "column" from pg_index as i
        join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
        where i.indrelid = ${place.table}::regclass and i.indisprimary`.execute(current().db.query);
      const columns = key.rows.map(({ column }) => column);
      expect([place.table, keyColumnsOf(place).sort()]).toEqual([place.table, columns.sort()]);
    }
  });

  it("keeps a change of the key from a database with another sealed column", async () => {
    const { db, secretsKey } = current();
    await sql`create table later (id integer primary key, sealed_thing text)`.execute(db.query);
    await expect(rotateSecrets(db, createSealer(newKey()), () => undefined)).rejects.toThrow(
      "it does not know how later.sealed_thing is sealed",
    );
    await sql`drop table later`.execute(db.query);
    expect(createSealer(secretsKey).keyId).toBe(db.sealer.keyId);
  });
});

/** A database with secrets, which no service uses. PostgreSQL where it runs: the embedded one takes a second to open. */
function closedStore(needsEmbedded: boolean) {
  let test: Awaited<ReturnType<typeof openServerTestStore>>;
  let owner: Client;
  let open: Store | null = null;
  beforeAll(async () => {
    const server = needsEmbedded ? null : inject("testServer");
    test = await (server === null ? openEmbeddedTestStore() : openServerTestStore(server));
    owner = await fill(test);
    const texts = await sealedTexts(test.db);
    // The filled columns have to be most of them, or the test would prove little.
    assert.ok(new Set(texts.map(({ column }) => column)).size >= 10);
    await test.store.close();
  });
  afterAll(async () => {
    await open?.close();
    await test.remove();
  });
  return {
    test: (): TestStore => test,
    owner: (): Client => owner,
    close: async (): Promise<void> => open?.close(),
    openWith: async (secretsKey: Uint8Array): Promise<Store> => {
      const { dataDir, databaseUrl } = test;
      open = await openStore({ dataDir, databaseUrl, secretsKey, log: silent });
      return open;
    },
  };
}

describe("a change of SECRETS_KEY", () => {
  const closed = closedStore(false);
  let env: ReturnType<typeof environmentOf>;
  beforeAll(() => {
    env = environmentOf(closed.test());
  });

  it("is interrupted and continues, and services do not start in between", async () => {
    const next = newKey();
    const test = closed.test();
    const oldId = createSealer(test.secretsKey).keyId;
    const store = await closed.openWith(test.secretsKey);
    let portions = 0;
    const broken = rotateSecrets(store.db, createSealer(next), () => {
      portions += 1;
      if (portions === 5) throw new Error("power cut");
    });
    await expect(broken).rejects.toThrow("power cut");
    await store.close();
    for (const key of [test.secretsKey, next]) {
      await expect(closed.openWith(key)).rejects.toThrow(
        "A change of SECRETS_KEY is under way or was interrupted",
      );
    }
    const other = await parley({ ...env, NEW_SECRETS_KEY: inBase64(newKey()) }, "secrets", "rotate");
    expect([other.exitCode, other.err]).toEqual([
      1,
      "A change of SECRETS_KEY to another key than this one was interrupted: run the command with that key again.",
    ]);
    const done = await parley({ ...env, NEW_SECRETS_KEY: inBase64(next) }, "secrets", "rotate");
    expect([done.exitCode, done.err]).toEqual([0, ""]);
    const opened = await closed.openWith(next);
    const { db } = opened;
    const texts = await sealedTexts(db);
    expect(new Set(texts.map(({ keyId }) => keyId))).toEqual(new Set([createSealer(next).keyId]));
    expect(await columnsUnder(db, oldId)).toEqual([]);
    expect(await columnsUnder(db, createSealer(next).keyId)).toContain("calls.sealed_plan");
    const server = await openTestServer({ ...test, db, store: opened, secretsKey: next });
    const key = { "x-api-key": closed.owner().key };
    const read = await server.inject({
      method: "GET",
      url: "/api/telephony_configs/telephony1",
      headers: key,
    });
    expect(JSON.parse(read.body)).toMatchObject({ authTokenPrefix: { prefix: "0123" } });
    await server.close();
    await closed.close();
    await expect(closed.openWith(test.secretsKey)).rejects.toThrow("SECRETS_KEY is not the key");
    env = { ...env, SECRETS_KEY: inBase64(next) };
  });

  it("asks for the new key where SECRETS_KEY is set, and takes no wrong one", async () => {
    const journal = join(closed.test().dataDir, "journal");
    mkdirSync(journal);
    writeFileSync(join(journal, "call.journal"), "");
    const unwritten = await parley(env, "secrets", "rotate");
    expect([unwritten.exitCode, unwritten.err]).toEqual([
      1,
      expect.stringContaining("DATA_DIR has a journal with records of 1 calls"),
    ]);
    rmSync(journal, { recursive: true });
    const missing = await parley(env, "secrets", "rotate");
    expect([missing.exitCode, missing.err]).toEqual([
      1,
      expect.stringContaining("NEW_SECRETS_KEY must hold"),
    ]);
    const short = await parley({ ...env, NEW_SECRETS_KEY: "c2hvcnQ=" }, "secrets", "rotate");
    expect([short.exitCode, short.err]).toEqual([1, "NEW_SECRETS_KEY must hold 32 bytes in base64."]);
    const same = await parley({ ...env, NEW_SECRETS_KEY: env["SECRETS_KEY"] }, "secrets", "rotate");
    expect([same.exitCode, same.err]).toEqual([1, "NEW_SECRETS_KEY is the present key."]);
    const wrong = { ...env, SECRETS_KEY: inBase64(newKey()), NEW_SECRETS_KEY: inBase64(newKey()) };
    const refused = await parley(wrong, "secrets", "rotate");
    expect([refused.exitCode, refused.err]).toEqual([
      1,
      "SECRETS_KEY is not the key that this database was written with.",
    ]);
    await closed.openWith(Buffer.from(env["SECRETS_KEY"] ?? "", "base64"));
    await closed.close();
  });
});

describe("a change of the key in the key file", () => {
  const closed = closedStore(true);

  it("replaces the key file, also when it was broken off right after", async () => {
    const file = join(closed.test().dataDir, "secrets.key");
    const present = inBase64(closed.test().secretsKey);
    writeFileSync(file, `${present}\n`);
    const inFile = { DATA_DIR: closed.test().dataDir };
    const done = await parley(inFile, "secrets", "rotate");
    expect([done.exitCode, done.err]).toEqual([0, ""]);
    const fresh = readFileSync(file, "utf8").trim();
    expect(fresh).not.toBe(present);
    expect(existsSync(`${file}.new`)).toBe(false);
    const key = new Uint8Array(Buffer.from(fresh, "base64"));
    const { db } = await closed.openWith(key);
    await sql`insert into store_settings (name, value) values ('secrets_rotation', ${db.sealer.keyId})`.execute(
      db.query,
    );
    await closed.close();
    const completed = await parley(inFile, "secrets", "rotate");
    expect([completed.exitCode, completed.out]).toEqual([0, expect.stringContaining("is complete now")]);
    expect(readFileSync(file, "utf8").trim()).toBe(fresh);
    await sealedTexts((await closed.openWith(key)).db);
    await closed.close();
  });

  it("puts the key of NEW_SECRETS_KEY into the key file, and no other one", async () => {
    const file = join(closed.test().dataDir, "secrets.key");
    const present = readFileSync(file, "utf8").trim();
    const run = async (key: string) =>
      parley({ DATA_DIR: closed.test().dataDir, NEW_SECRETS_KEY: key }, "secrets", "rotate");
    const same = await run(present);
    expect([same.exitCode, same.err]).toEqual([1, "NEW_SECRETS_KEY is the present key."]);
    expect(existsSync(`${file}.new`)).toBe(false);
    // From an attempt that was interrupted before it began.
    writeFileSync(`${file}.new`, `${inBase64(newKey())}\n`);
    const next = newKey();
    const done = await run(inBase64(next));
    expect([done.exitCode, done.err]).toEqual([0, ""]);
    expect(readFileSync(file, "utf8").trim()).toBe(inBase64(next));
    expect(existsSync(`${file}.new`)).toBe(false);
    const { db } = await closed.openWith(next);
    expect(new Set((await sealedTexts(db)).map(({ keyId }) => keyId))).toEqual(new Set([db.sealer.keyId]));
    await closed.close();
  });

  it("leaves no file when it is refused, and continues with the key in the file", async () => {
    const file = join(closed.test().dataDir, "secrets.key");
    const present = new Uint8Array(Buffer.from(readFileSync(file, "utf8").trim(), "base64"));
    const inFile = { DATA_DIR: closed.test().dataDir };
    const next = newKey();
    const { db } = await closed.openWith(present);
    await sql`create table later (id integer primary key, sealed_thing text)`.execute(db.query);
    await closed.close();
    const refused = await parley({ ...inFile, NEW_SECRETS_KEY: inBase64(next) }, "secrets", "rotate");
    expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining("later.sealed_thing")]);
    expect(existsSync(`${file}.new`)).toBe(false);
    const { db: again } = await closed.openWith(present);
    await sql`drop table later`.execute(again.query);
    const half = rotateSecrets(again, createSealer(next), () => {
      throw new Error("power cut");
    });
    await expect(half).rejects.toThrow("power cut");
    await closed.close();
    const without = await parley(inFile, "secrets", "rotate");
    expect([without.exitCode, without.err]).toEqual([
      1,
      expect.stringContaining("set NEW_SECRETS_KEY to it"),
    ]);
    expect(existsSync(`${file}.new`)).toBe(false);
    writeFileSync(`${file}.new`, `${inBase64(next)}\n`);
    const other = await parley({ ...inFile, NEW_SECRETS_KEY: inBase64(newKey()) }, "secrets", "rotate");
    expect([other.exitCode, other.err]).toEqual([1, expect.stringContaining("so unset NEW_SECRETS_KEY")]);
    const done = await parley(inFile, "secrets", "rotate");
    expect([done.exitCode, done.err]).toEqual([0, ""]);
    expect(readFileSync(file, "utf8").trim()).toBe(inBase64(next));
    await sealedTexts((await closed.openWith(next)).db);
    await closed.close();
  });
});

describeOnBothDatabases("a portion of a change of SECRETS_KEY", (current) => {
  it("is bounded in bytes, and has one row at least", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const providers = ["a", "b", "c", "d", "e"];
    // Sealed they are a third longer: two fit into 16 MiB, the last one does not fit even alone.
    const bytes = [5, 5, 5, 5, 13].map((mebibytes) => mebibytes * 1024 * 1024);
    for (const [index, provider] of providers.entries()) {
      const sealed = db.sealer.seal("x".repeat(bytes[index] ?? 0), `tts_api_keys:${accountId}:${provider}`);
      await sql`insert into tts_api_keys (account_id, provider, sealed_key, prefix)
        values (${accountId}, ${provider}, ${sealed}, 'x')`.execute(db.query);
    }
    const counts: number[] = [];
    const to = createSealer(newKey());
    expect(await rotateSecrets(db, to, (count) => counts.push(count))).toBe(5);
    expect(counts).toEqual([2, 4, 5]);
    const read = await sql<{ provider: string; sealed: string }>`
      select provider, sealed_key as sealed from tts_api_keys order by provider`.execute(db.query);
    expect(
      read.rows.map((row) => to.open(row.sealed, `tts_api_keys:${accountId}:${row.provider}`).length),
    ).toEqual(bytes);
  });
});

describeOnBothDatabases("a change of SECRETS_KEY beside a running service", (current) => {
  it("is refused", async () => {
    const env = { ...environmentOf(current()), NEW_SECRETS_KEY: inBase64(newKey()) };
    const { exitCode, err } = await parley(env, "secrets", "rotate");
    expect([exitCode, err]).toEqual([3, expect.stringContaining("is using the data folder")]);
    // On another machine: it has its own DATA_DIR.
    if (current().kind === "embedded") return;
    const elsewhere = await openEmbeddedTestStore();
    await elsewhere.store.close();
    const away = await parley({ ...env, DATA_DIR: elsewhere.dataDir }, "secrets", "rotate");
    expect([away.exitCode, away.err]).toEqual([
      3,
      expect.stringContaining("stop every service and program that uses it"),
    ]);
    // The service's application name can be set in DATABASE_URL; psql and others count as well.
    await current().store.close();
    const rotate = async () => parley({ ...env, DATA_DIR: elsewhere.dataDir }, "secrets", "rotate");
    const stranger = new DatabaseClient({
      connectionString: current().databaseUrl ?? "",
      application_name: "hotel desk",
    });
    await stranger.connect();
    const beside = await rotate();
    expect([beside.exitCode, beside.err]).toEqual([3, expect.stringContaining("(1, by hotel desk)")]);
    await stranger.end();
    const alone = await rotate();
    expect([alone.exitCode, alone.err]).toEqual([0, ""]);
    await elsewhere.remove();
  });
});
