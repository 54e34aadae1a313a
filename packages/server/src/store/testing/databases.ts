/** Runs a file's tests on both databases, each with a fresh, migrated database that goes away afterwards. */

import { randomBytes, randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { afterAll, beforeAll, describe } from "vitest";
import { createAccount } from "../accounts.ts";
import { embeddedDatabaseDir } from "../data-dir.ts";
import { openStore, type Db, type Store, type StoreLog } from "../db.ts";
import { startEmbeddedEngine } from "../embedded/embedded-engine.ts";
import { SECRETS_KEY_BYTES } from "../secrets.ts";

export interface TestStore {
  readonly kind: Store["kind"];
  readonly store: Store;
  readonly db: Db;
  /** What `openStore` was given; another store may be opened with it after this one is closed. */
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly secretsKey: Uint8Array;
}

const DEFAULT_SERVER_URL = "postgres://postgres@127.0.0.1:5432/postgres";

/** A server on this machine answers within milliseconds. */
const SERVER_PROBE_LIMIT_MS = 2_000;

/**
 * Describes the same tests once for each database. `current()` is the open store, within tests and hooks. PostgreSQL is
 * reached at TEST_DATABASE_URL, or at the usual port of this machine; without one its tests are skipped, aloud.
 */
export function describeOnBothDatabases(title: string, body: (current: () => TestStore) => void): void {
  describe(`${title} (embedded)`, () => {
    body(storeForTests(openEmbeddedTestStore));
  });
  describe.skipIf(serverUrl === null)(`${title} (postgresql)`, () => {
    body(storeForTests(async () => openServerTestStore(serverUrl ?? "")));
  });
}

/** An account of its own for a test, so that tests of one file do not see each other's rows. */
export async function newAccount(db: Db): Promise<string> {
  return (await createAccount(db, `test ${randomUUID()}`)).accountId;
}

interface OwnedStore extends TestStore {
  readonly remove: () => Promise<void>;
}

function storeForTests(open: () => Promise<OwnedStore>): () => TestStore {
  let opened: OwnedStore | null = null;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(async () => {
    await opened?.remove();
    opened = null;
  });
  return () => {
    if (opened === null) throw new Error("The store is open within tests and hooks only.");
    return opened;
  };
}

export async function openEmbeddedTestStore(): Promise<OwnedStore> {
  const dataDir = await newDataDir();
  const secretsKey = new Uint8Array(randomBytes(SECRETS_KEY_BYTES));
  const store = await openStore({ dataDir, databaseUrl: null, secretsKey, log: failureLog });
  const remove = async (): Promise<void> => {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { kind: store.kind, store, db: store.db, dataDir, databaseUrl: null, secretsKey, remove };
}

/** A data folder with an empty embedded database, copied from one that was made once: making it takes seconds. */
export async function newDataDir(): Promise<string> {
  const template = fileURLToPath(
    new URL(`../../../../../node_modules/.cache/parley/pglite-0.5.14`, import.meta.url),
  );
  if (!existsSync(template)) {
    const made = `${template}-${randomUUID()}`;
    mkdirSync(made, { recursive: true });
    const engine = await startEmbeddedEngine(embeddedDatabaseDir(made), (error) => {
      throw error;
    });
    await engine.close();
    try {
      renameSync(made, template);
    } catch (error) {
      rmSync(made, { recursive: true, force: true });
      // Another run was faster.
      if (!existsSync(template)) throw error;
    }
  }
  const dataDir = mkdtempSync(join(tmpdir(), "parley-test-"));
  cpSync(template, dataDir, { recursive: true });
  return dataDir;
}

async function openServerTestStore(adminUrl: string): Promise<OwnedStore> {
  const name = `parley_test_${randomBytes(8).toString("hex")}`;
  await onServer(adminUrl, async (client) => client.query(`create database ${name}`));
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const dataDir = mkdtempSync(join(tmpdir(), "parley-test-"));
  const secretsKey = new Uint8Array(randomBytes(SECRETS_KEY_BYTES));
  const databaseUrl = url.href;
  const store = await openStore({ dataDir, databaseUrl, secretsKey, log: failureLog });
  const remove = async (): Promise<void> => {
    await store.close();
    await onServer(adminUrl, async (client) => client.query(`drop database ${name} with (force)`));
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { kind: store.kind, store, db: store.db, dataDir, databaseUrl, secretsKey, remove };
}

async function onServer(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: SERVER_PROBE_LIMIT_MS });
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end();
  }
}

async function findServer(): Promise<string | null> {
  const named = process.env["TEST_DATABASE_URL"];
  const url = named ?? DEFAULT_SERVER_URL;
  try {
    await onServer(url, async (client) => client.query("select 1"));
    return url;
  } catch (error) {
    // A server that was asked for by name must be there.
    if (named !== undefined) throw error;
    process.stderr.write(
      "\nNO POSTGRESQL SERVER ANSWERS at 127.0.0.1:5432 and TEST_DATABASE_URL is not set: " +
        "the PostgreSQL half of the database tests is SKIPPED.\n\n",
    );
    return null;
  }
}

const failureLog: StoreLog = {
  info: () => undefined,
  warn: (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
  error: (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
};

const serverUrl = await findServer();
