/** The handle that every function of the store takes, and transactions. */

import { setTimeout as wait } from "node:timers/promises";
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

/** How often a transaction is run again that the database has aborted because of another one. */
const MAXIMUM_REPETITIONS = 3;
/** Wait before a repetition, at random up to this: two transactions that met must not meet again. */
const LONGEST_WAIT_MS = 50;
/** A deadlock, and a serialization failure. Nothing of the transaction was written. */
const ABORTED_CODES: ReadonlySet<unknown> = new Set(["40P01", "40001"]);

/**
 * Runs `work` in one transaction: all writes through `tx` are committed together, or none. `work` is run again when the
 * database aborts the transaction because of another one, so it must change nothing but the database.
 */
export async function inTransaction<Result>(db: Db, work: (tx: Db) => Promise<Result>): Promise<Result> {
  return repeatAborted(db, async () =>
    db.query.isTransaction
      ? work(db)
      : db.query.transaction().execute(async (transaction) => work({ ...db, query: transaction })),
  );
}

/** The same for a single statement, which needs no transaction of its own. */
export async function repeatAborted<Result>(db: Db, work: () => Promise<Result>): Promise<Result> {
  // An aborted transaction can only be run again as a whole.
  if (db.query.isTransaction) return work();
  for (let repetitions = 0; ; repetitions += 1) {
    try {
      return await work();
    } catch (error) {
      if (repetitions >= MAXIMUM_REPETITIONS || !wasAborted(error)) throw error;
    }
    await wait(Math.random() * LONGEST_WAIT_MS);
  }
}

function wasAborted(error: unknown): boolean {
  return error instanceof Error && "code" in error && ABORTED_CODES.has(error.code);
}
