/**
 * The PostgreSQL server of the `db` project: TEST_DATABASE_URL, or the server at the default port of this machine. One
 * database with all migrations is created there as a template, because migrating takes longer than most test files.
 */

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import type { StoreLog } from "../opening/open-database.ts";
import { openStore } from "../opening/open-store.ts";
import { SECRETS_KEY_BYTES } from "../secrets/secrets.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Null: no server answers. */
    readonly testServer: TestServer | null;
  }
}

export interface TestServer {
  /** URL of a database from which others can be created. */
  readonly adminUrl: string;
  /** The name of a database with all migrations and no rows. */
  readonly emptyDatabase: string;
}

const DEFAULT_SERVER_URL = "postgres://postgres@127.0.0.1:5432/postgres";

/** A server on this machine answers within milliseconds. */
const SERVER_PROBE_LIMIT_MS = 2_000;

let remove = async (): Promise<void> => undefined;

export async function setup(project: TestProject): Promise<void> {
  const adminUrl = await findServer();
  if (adminUrl === null) {
    project.provide("testServer", null);
    return;
  }
  const emptyDatabase = `parley_test_${randomBytes(8).toString("hex")}`;
  await onServer(adminUrl, `create database ${emptyDatabase}`);
  remove = async () => onServer(adminUrl, `drop database ${emptyDatabase} with (force)`);
  const dataDir = mkdtempSync(join(tmpdir(), "parley-test-"));
  try {
    await makeEmptyDatabase({ dataDir, databaseUrl: databaseUrlOf(adminUrl, emptyDatabase) });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
  project.provide("testServer", { adminUrl, emptyDatabase });
}

export async function teardown(): Promise<void> {
  await remove();
}

/** Migrates, and leaves the secrets key to the first store that opens a copy. */
export async function makeEmptyDatabase(place: {
  readonly dataDir: string;
  readonly databaseUrl: string | null;
}): Promise<void> {
  const secretsKey = new Uint8Array(SECRETS_KEY_BYTES);
  const store = await openStore({ ...place, secretsKey, log: failureLog, betweenKeys: true });
  await store.close();
}

export function databaseUrlOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: SERVER_PROBE_LIMIT_MS });
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function findServer(): Promise<string | null> {
  const named = process.env["TEST_DATABASE_URL"];
  const url = named ?? DEFAULT_SERVER_URL;
  try {
    await onServer(url, "select 1");
    return url;
  } catch (error) {
    // A configured server must answer.
    if (named !== undefined) throw error;
    process.stderr.write(
      "\nNO POSTGRESQL SERVER ANSWERS at 127.0.0.1:5432 and TEST_DATABASE_URL is not set: " +
        "the PostgreSQL half of the database tests is SKIPPED.\n\n",
    );
    return null;
  }
}

export const failureLog: StoreLog = {
  info: () => undefined,
  warn: (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
  error: (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
};
