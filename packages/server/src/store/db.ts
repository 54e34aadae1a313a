/** Opening the database: PostgreSQL where DATABASE_URL names one, else the embedded one in DATA_DIR. */

import type { Kysely } from "kysely";
import type { ApiKeyCache } from "./api-key-cache.ts";
import type { Database } from "./database.ts";
import type { Sealer } from "./secrets.ts";

/** What every function of the store takes first. */
export interface Db {
  readonly query: Kysely<Database>;
  readonly sealer: Sealer;
  readonly apiKeyCache: ApiKeyCache;
}

/** Runs `work` in one transaction: what it writes through `tx` is there as a whole or not at all. */
export async function inTransaction<Result>(db: Db, work: (tx: Db) => Promise<Result>): Promise<Result> {
  if (db.query.isTransaction) return work(db);
  return db.query.transaction().execute(async (transaction) => work({ ...db, query: transaction }));
}

/** The part of pino that the store uses. */
export interface StoreLog {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

export interface StoreOptions {
  readonly dataDir: string;
  /** Null: embedded. */
  readonly databaseUrl: string | null;
  /** 32 bytes. */
  readonly secretsKey: Uint8Array;
  readonly log: StoreLog;
}

export interface Store {
  readonly db: Db;
  readonly kind: "embedded" | "postgresql";
  /** One round trip to the database. Rejects when there is none. */
  readonly ping: () => Promise<void>;
  /** Waits for queries under way, then lets go of the database and its lock. Idempotent. */
  readonly close: () => Promise<void>;
}

/** @throws StoreStartError with one sentence for the person who starts the service. */
export declare function openStore(options: StoreOptions): Promise<Store>;
