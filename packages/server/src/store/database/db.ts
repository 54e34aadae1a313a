/** The handle that every function of the store takes, and transactions. */

import type { Kysely } from "kysely";
import type { ApiKeyCache } from "./api-key-cache.ts";
import type { Database } from "./database.ts";
import type { Sealer } from "./sealer.ts";

/** The first parameter of every function of the store. */
export interface Db {
  readonly query: Kysely<Database>;
  readonly sealer: Sealer;
  readonly apiKeyCache: ApiKeyCache;
}

/** Runs `work` in one transaction: all writes through `tx` are committed together, or none. */
export async function inTransaction<Result>(db: Db, work: (tx: Db) => Promise<Result>): Promise<Result> {
  if (db.query.isTransaction) return work(db);
  return db.query.transaction().execute(async (transaction) => work({ ...db, query: transaction }));
}
