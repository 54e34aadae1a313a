/** Migrations: numbered SQL files, each applied once in one transaction, and never changed afterwards. */

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { sql, type Kysely, type Transaction } from "kysely";
import type { Database, Row } from "./database.ts";
import type { PoolLimits } from "./pool.ts";
import { StoreStartError } from "./store-errors.ts";
import { messageOf } from "../../pacing/error-text.ts";

export interface Migration {
  /** From 1, without gaps. */
  readonly version: number;
  /** File name, such as `0001_accounts_agents_calls.sql`. */
  readonly name: string;
  readonly sql: string;
}

const migrationsUrl = new URL("../migrations/", import.meta.url);

/** A number that nothing else in the database uses: "prly" in ASCII. */
const ADVISORY_LOCK = 0x70726c79;

/** Timeout of one migration, including the wait for another node. */
const MIGRATION_LIMIT_MS = 600_000;

/** Migrations run one after the other, with a longer timeout than queries. */
export const migrationLimits: PoolLimits = { connections: 1, answerLimitMs: MIGRATION_LIMIT_MS };

export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(migrationsUrl)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const version = Number(name.slice(0, 4));
      if (version !== index + 1) throw new Error(`Migration ${name} is out of order.`);
      return { version, name, sql: await readFile(new URL(name, migrationsUrl), "utf8") };
    }),
  );
}

/**
 * Applies missing migrations, oldest first. When several nodes start at once, an advisory lock lets one of them work.
 * @returns the names applied.
 * @throws StoreStartError when an applied file has changed, the database is newer than this version, or it refuses a
 * migration, such as one that needs an extension which is not installed.
 */
export async function migrate(
  query: Kysely<Database>,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  const applied: string[] = [];
  for (let remaining = migrations.length; remaining >= 0; remaining -= 1) {
    const name = await query.transaction().execute(async (tx) => applyNext(tx, migrations));
    if (name === null) break;
    applied.push(name);
  }
  return applied;
}

/** Null when no migration is missing. */
async function applyNext(
  tx: Transaction<Database>,
  migrations: readonly Migration[],
): Promise<string | null> {
  await sql.raw(`set local statement_timeout = ${MIGRATION_LIMIT_MS}`).execute(tx);
  await sql.raw(`set local lock_timeout = ${MIGRATION_LIMIT_MS}`).execute(tx);
  await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK}::bigint)`.execute(tx);
  await sql`create table if not exists schema_migrations (version integer primary key, name text not null,
    checksum text not null, applied_at timestamptz(3) not null)`.execute(tx);
  const rows = await sql<AppliedMigration>`
    select version, name, checksum from schema_migrations order by version`.execute(tx);
  for (const row of rows.rows) checkApplied(row, migrations);
  const next = migrations[rows.rows.length];
  if (next === undefined) return null;
  await sql
    .raw(next.sql)
    .execute(tx)
    .catch((error: unknown) => {
      const reason = messageOf(error);
      throw new StoreStartError(`Migration ${next.name} cannot be applied to the database: ${reason}.`, {
        cause: error,
      });
    });
  await sql`insert into schema_migrations (version, name, checksum, applied_at)
    values (${next.version}, ${next.name}, ${checksumOf(next)}, ${new Date()})`.execute(tx);
  return next.name;
}

/** @throws StoreStartError when migrations are missing or changed: the database belongs to another version. */
export async function checkMigrated(
  query: Kysely<Database>,
  migrations: readonly Migration[],
): Promise<void> {
  const known = await sql<{ table: string | null }>`
    select to_regclass('schema_migrations')::text as "table"`.execute(query);
  const rows =
    (known.rows[0]?.table ?? null) === null
      ? []
      : (
          await sql<AppliedMigration>`
            select version, name, checksum from schema_migrations order by version`.execute(query)
        ).rows;
  for (const row of rows) checkApplied(row, migrations);
  const next = migrations[rows.length];
  if (next === undefined) return;
  throw new StoreStartError(
    `The database lacks migration ${next.name}: start the service of this version, or run parley migrate.`,
  );
}

type AppliedMigration = Pick<Row<"schema_migrations">, "version" | "name" | "checksum">;

function checkApplied(row: AppliedMigration, migrations: readonly Migration[]): void {
  const known = migrations[row.version - 1];
  if (known === undefined) {
    throw new StoreStartError(
      `The database is newer than this version of the service: it has migration ${row.name}; install the newer version.`,
    );
  }
  if (checksumOf(known) !== row.checksum) {
    throw new StoreStartError(
      `Migration ${known.name} has changed since it was applied to the database; restore the file.`,
    );
  }
}

function checksumOf(migration: Migration): string {
  return createHash("sha256").update(migration.sql.replaceAll("\r\n", "\n")).digest("hex");
}
