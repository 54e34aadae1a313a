/** A new database for a benchmark, removed at its end. */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import type { Db } from "../src/store/database/db.ts";
import { openStore } from "../src/store/opening/open-store.ts";

const POSTGRES = process.env["TEST_DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";

export interface BenchStore {
  readonly db: Db;
  readonly kind: string;
  /** Null: the database belongs to this process. */
  readonly databaseUrl: string | null;
  readonly secretsKey: Uint8Array;
  close(): Promise<void>;
}

export async function openBenchStore(kind: "embedded" | "postgresql"): Promise<BenchStore> {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-bench-"));
  const database = kind === "postgresql" ? await createDatabase() : null;
  const log = { info: () => undefined, warn: console.error, error: console.error };
  const secretsKey = new Uint8Array(randomBytes(32));
  const store = await openStore({ dataDir, databaseUrl: database?.url ?? null, secretsKey, log });
  const close = async (): Promise<void> => {
    await store.close();
    await database?.drop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { db: store.db, kind, databaseUrl: database?.url ?? null, secretsKey, close };
}

export interface OwnDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

export async function createDatabase(): Promise<OwnDatabase> {
  const name = `parley_bench_${randomBytes(6).toString("hex")}`;
  await onServer(`create database ${name}`);
  const url = new URL(POSTGRES);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(`drop database ${name} with (force)`) };
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: POSTGRES });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
