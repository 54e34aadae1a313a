/** Reads SECRETS_KEY, and checks that the database was written with it. */

import { randomBytes, randomUUID } from "node:crypto";
import { chmodSync, existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { embeddedDatabaseDir, makeDataDir, refuseIncompleteRestore } from "../database/data-dir.ts";
import type { Db } from "../database/db.ts";
import { SealError, SECRETS_KEY_BYTES } from "./secrets.ts";
import { StoreStartError } from "../database/store-errors.ts";

export interface SecretsKeyInput {
  readonly dataDir: string;
  /** Null: embedded database. */
  readonly databaseUrl: string | null;
  /** The variable as it was set, or null. */
  readonly secretsKey: string | null;
}

export const KEY_FILE = "secrets.key";
const OWNER_ONLY = 0o600;

/** The file of the new key during a change of SECRETS_KEY. */
export function newKeyFile(dataDir: string): string {
  return join(dataDir, `${KEY_FILE}.new`);
}

/**
 * The 32 bytes of SECRETS_KEY: from the variable or, with the embedded database, from a file in DATA_DIR, which the
 * first start creates.
 * @throws StoreStartError with a sentence that names the variable.
 */
export function loadSecretsKey({ dataDir, databaseUrl, secretsKey }: SecretsKeyInput): Uint8Array {
  if (databaseUrl === null) refuseIncompleteRestore(dataDir);
  if (secretsKey !== null) return parseKey(secretsKey, "SECRETS_KEY");
  if (databaseUrl !== null) {
    throw new StoreStartError("SECRETS_KEY must be set (32 bytes in base64) when DATABASE_URL is.");
  }
  const path = join(dataDir, KEY_FILE);
  if (!existsSync(path)) {
    if (existsSync(embeddedDatabaseDir(dataDir))) {
      throw new StoreStartError(
        `The key file ${path} of an existing database is missing: restore it, or set SECRETS_KEY to its content.`,
      );
    }
    makeKeyFile(dataDir, path);
  }
  return parseKey(readFileSync(path, "utf8"), `The key file ${path}`);
}

/** @throws StoreStartError with a sentence that begins with `source`. */
export function parseKey(text: string, source: string): Uint8Array {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, "base64");
  const isBase64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed);
  if (!isBase64 || bytes.byteLength !== SECRETS_KEY_BYTES) {
    throw new StoreStartError(`${source} must hold ${SECRETS_KEY_BYTES} bytes in base64.`);
  }
  return new Uint8Array(bytes);
}

/** The file appears complete or not at all. Of two concurrent starts, both read the file of the first. */
export function makeKeyFile(
  dataDir: string,
  path: string,
  key: Uint8Array = randomBytes(SECRETS_KEY_BYTES),
): void {
  makeDataDir(dataDir);
  const aside = join(dataDir, `${KEY_FILE}-${randomUUID()}.tmp`);
  const content = `${Buffer.from(key).toString("base64")}\n`;
  writeFileSync(aside, content, { flag: "wx", mode: OWNER_ONLY, flush: true });
  try {
    linkSync(aside, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Not every file system has hard links.
    if (code !== "EEXIST") writeKeyInPlace(path, content);
  } finally {
    rmSync(aside, { force: true });
  }
}

function writeKeyInPlace(path: string, content: string): void {
  writeFileSync(path, content, { flag: "wx", mode: OWNER_ONLY, flush: true });
  chmodSync(path, OWNER_ONLY);
}

export const CANARY_NAME = "secrets_canary";
export const CANARY_TEXT = "sealed with the right key";

/** Its row contains the id of the new key while a change of SECRETS_KEY is under way. */
export const ROTATION_NAME = "secrets_rotation";

/** @throws StoreStartError when the database was written with another key, or a change of the key is under way. */
export async function checkSecretsKey(db: Db): Promise<void> {
  const rotation = await db.query
    .selectFrom("store_settings")
    .select("value")
    .where("name", "=", ROTATION_NAME)
    .executeTakeFirst();
  if (rotation !== undefined) {
    throw new StoreStartError(
      "A change of SECRETS_KEY is under way or was interrupted: wait until it ends, or run parley secrets rotate again.",
    );
  }
  await sql`insert into store_settings (name, value)
    values (${CANARY_NAME}, ${db.sealer.seal(CANARY_TEXT, CANARY_NAME)}) on conflict do nothing`.execute(
    db.query,
  );
  const stored = await db.query
    .selectFrom("store_settings")
    .select("value")
    .where("name", "=", CANARY_NAME)
    .executeTakeFirstOrThrow();
  try {
    db.sealer.open(stored.value, CANARY_NAME);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new StoreStartError("SECRETS_KEY is not the key that this database was written with.", {
      cause: error,
    });
  }
}
