import { chmodSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { sql } from "kysely";
import { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { adminSocketDir, embeddedDatabaseDir } from "../database/data-dir.ts";
import type { StoreLog } from "../opening/open-database.ts";
import { openStore, type Store } from "../opening/open-store.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { newDataDir } from "../testing/databases.ts";
import { adminSocketPath } from "./admin-socket.ts";

const silent: StoreLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
const secretsKey = new Uint8Array(32);
const lost: string[] = [];
const dataDirs: string[] = [];
let dataDir: string;
let store: Store;

async function newDir(): Promise<string> {
  const dir = await newDataDir();
  dataDirs.push(dir);
  return dir;
}

beforeAll(async () => {
  dataDir = await newDir();
  chmodSync(embeddedDatabaseDir(dataDir), 0o755);
  store = await openStore({
    dataDir,
    databaseUrl: null,
    secretsKey,
    log: silent,
    onLost: (reason) => lost.push(reason),
  });
});

afterAll(async () => {
  await store.close();
  for (const dir of dataDirs) rmSync(dir, { recursive: true, force: true });
});

async function foreignClient(): Promise<Client> {
  const client = new Client({ host: adminSocketDir(dataDir), user: "postgres", password: "" });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

async function expectNothingLost(): Promise<void> {
  await store.ping();
  expect(lost).toEqual([]);
}

it("keeps other users of the machine out of the database's folder", () => {
  expect(statSync(embeddedDatabaseDir(dataDir)).mode & 0o777).toBe(0o700);
});

it.each(["copy t from stdin", "begin; copy t from stdin", "select 1; copy t from stdin; copy t from stdin"])(
  "fails `%s` of a command and nothing else",
  async (text) => {
    const client = await foreignClient();
    await client.query("create table if not exists t (who integer)");
    await expect(client.query(text)).rejects.toMatchObject({ code: "57014" });
    await client.query("rollback");
    expect((await client.query("select who from t")).rows).toEqual([]);
    await client.end();
    await expectNothingLost();
  },
);

it.each([
  ["a call of a function", "F\0\0\0\u000e\0\0\u0004\u00af\0\0\0\0\0\0"],
  ["a type that there is not", "z\0\0\0\u0004"],
  ["a length that is none", "Q\0\0\0\u0001"],
  ["a message without end", "Q\u007f\u00ff\u00ff\u00ff"],
])("cuts a connection that sends %s", async (_, bytes) => {
  const path = adminSocketPath(adminSocketDir(dataDir)) ?? "";
  const socket = connect(path);
  socket.resume();
  const closed = once(socket, "close");
  const startup = Buffer.from("\0\0\0\u0017\0\u0003\0\0user\0postgres\0\0", "latin1");
  socket.write(
    Buffer.concat([startup, Buffer.from(bytes, "latin1"), Buffer.from("S\0\0\0\u0004", "latin1")]),
  );
  await closed;
  await store.ping();
  expect(lost).toEqual([]);
});

it("takes back what a command sets, before the service asks and when the command is gone", async () => {
  const settings = sql<{ path: string; zone: string; found: string | null }>`
    select current_setting('search_path') as path, current_setting('timezone') as zone,
      to_regclass('pg_temp.looks')::text as found`;
  const before = (await settings.execute(store.db.query)).rows;
  const client = await foreignClient();
  const change =
    "set search_path to nowhere; set timezone to 'Asia/Tokyo'; create temp table looks (who integer)";
  await client.query(change);
  expect((await settings.execute(store.db.query)).rows).toEqual(before);
  await client.query(change);
  await client.query("begin");
  await client.end();
  expect((await settings.execute(store.db.query)).rows).toEqual(before);
  expect(before).toEqual([{ path: "public", zone: "UTC", found: null }]);
});

it("starts without the socket for commands when that cannot be opened, and says so", async () => {
  const dir = await newDir();
  writeFileSync(join(dir, "admin"), "");
  const warnings: string[] = [];
  const log = { ...silent, warn: (_: object, message: string) => warnings.push(message) };
  const opened = await openStore({ dataDir: dir, databaseUrl: null, secretsKey, log });
  await opened.ping();
  await opened.close();
  expect(warnings).toEqual(["The socket for commands does not work."]);
});

it("ends the engine of a start that fails before others may open its folder", async () => {
  const dir = await newDir();
  writeFileSync(join(dir, "admin"), "");
  const workers: Worker[] = [];
  const see = (worker: Worker): unknown => workers.push(worker);
  process.on("worker", see);
  const log = {
    ...silent,
    warn: () => {
      throw new Error("the log is full");
    },
  };
  await expect(openStore({ dataDir: dir, databaseUrl: null, secretsKey, log })).rejects.toThrow(
    "log is full",
  );
  process.off("worker", see);
  // The id of a thread that has ended.
  expect(workers.map(({ threadId }) => threadId)).toEqual([-1]);
});

it("prepares its statements again after a command has discarded them", async () => {
  const write = (): Promise<unknown> =>
    sql`${preparedStatement} select ${"x"}::text as prepared_here`.execute(store.db.query);
  await write();
  const client = await foreignClient();
  const held =
    "select count(*)::int as held from pg_prepared_statements where statement like '%prepared_here%'";
  expect((await client.query(`${held} and statement not like '%pg_prepared%'`)).rows).toEqual([{ held: 1 }]);
  await client.query("deallocate all");
  await write();
  await client.query("discard all");
  await client.end();
  await write();
  await expectNothingLost();
});
