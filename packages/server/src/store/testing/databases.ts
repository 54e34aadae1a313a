/** Runs the tests of a file on both databases, each with a new, migrated database that is removed afterwards. */

import { createHash, randomBytes, randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, inject } from "vitest";
import { createAccount } from "../accounts/accounts.ts";
import { embeddedDatabaseDir } from "../database/data-dir.ts";
import type { Db } from "../database/db.ts";
import { openStore, type Store } from "../opening/open-store.ts";
import { readMigrations } from "../database/migrate.ts";
import { SECRETS_KEY_BYTES } from "../secrets/secrets.ts";
import { databaseUrlOf, failureLog, makeEmptyDatabase, onServer, type TestServer } from "./test-server.ts";

/**
 * Keeps the compiled code of the embedded database, which V8 shares among all threads of the process, from being
 * collected between two files of tests. Compiling it takes a second.
 */
const { WebAssembly: wasm } = globalThis as unknown as {
  readonly WebAssembly: { readonly compile: (code: Uint8Array) => Promise<object> };
};
const compiledDatabase = wasm.compile(
  readFileSync(fileURLToPath(new URL("pglite.wasm", import.meta.resolve("@electric-sql/pglite")))),
);
Object.assign(globalThis, { compiledDatabase });

export interface TestStore {
  readonly kind: Store["kind"];
  readonly store: Store;
  readonly db: Db;
  /** Options of `openStore`; another store may be opened with them after this one is closed. */
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly secretsKey: Uint8Array;
}

/**
 * Describes the same tests for each database. `current()` is the open store, within tests and hooks. If
 * `test-server.ts` has found no PostgreSQL, its tests are skipped.
 */
export function describeOnBothDatabases(title: string, body: (current: () => TestStore) => void): void {
  describe(`${title} (embedded)`, () => {
    body(storeForTests(openEmbeddedTestStore));
  });
  const server = inject("testServer");
  describe.skipIf(server === null)(`${title} (postgresql)`, () => {
    body(
      storeForTests(async () => {
        if (server === null) throw new Error("A skipped test must not open its database.");
        return openServerTestStore(server);
      }),
    );
  });
}

/** Creates an account for a test, so that tests of one file do not see each other's rows. */
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

/** A data folder with an empty embedded database, copied from a cached one, because creating it takes seconds. */
export async function newDataDir(): Promise<string> {
  const cache = new URL("../../../../../node_modules/.cache/parley/", import.meta.url);
  const template = fileURLToPath(new URL(`pglite-0.5.14-${await migrationsName()}`, cache));
  if (!existsSync(template)) {
    const made = `${template}-${randomUUID()}`;
    mkdirSync(made, { recursive: true });
    await makeEmptyDatabase({ dataDir: made, databaseUrl: null });
    try {
      renameSync(made, template);
    } catch (error) {
      rmSync(made, { recursive: true, force: true });
      // Another run was faster.
      if (!existsSync(template)) throw error;
    }
  }
  const dataDir = mkdtempSync(join(tmpdir(), "parley-test-"));
  cpSync(embeddedDatabaseDir(template), embeddedDatabaseDir(dataDir), { recursive: true });
  return dataDir;
}

/** Identifies the cached database by its migrations. */
async function migrationsName(): Promise<string> {
  const hash = createHash("sha256");
  for (const { name, sql } of await readMigrations()) hash.update(`${name}\n${sql}\n`);
  return hash.digest("hex").slice(0, 16);
}

export async function openServerTestStore(server: TestServer): Promise<OwnedStore> {
  const name = `parley_test_${randomBytes(8).toString("hex")}`;
  await onServer(server.adminUrl, `create database ${name} template ${server.emptyDatabase}`);
  // Nobody needs these databases after a crash of the server, and each commit would wait for the disk.
  await onServer(server.adminUrl, `alter database ${name} set synchronous_commit = off`);
  const databaseUrl = databaseUrlOf(server.adminUrl, name);
  const dataDir = mkdtempSync(join(tmpdir(), "parley-test-"));
  const secretsKey = new Uint8Array(randomBytes(SECRETS_KEY_BYTES));
  const store = await openStore({ dataDir, databaseUrl, secretsKey, log: failureLog });
  const remove = async (): Promise<void> => {
    await store.close();
    await onServer(server.adminUrl, `drop database ${name} with (force)`);
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { kind: store.kind, store, db: store.db, dataDir, databaseUrl, secretsKey, remove };
}
