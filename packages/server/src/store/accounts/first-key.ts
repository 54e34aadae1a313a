/** A first key that was printed where nobody saw it, and how the next start replaces it. */

import { sql } from "kysely";
import { inTransaction, type Db } from "../database/db.ts";
import { createFirstApiKey, isValid, lockKeysOf, type CreatedApiKey } from "./api-keys.ts";
import { isUnusedFirstKey, markFirstKeyUnused } from "./first-key-mark.ts";

/**
 * Replaces the first key by a new one where it is the only valid key of the account and was never used: the start that
 * made it may have failed before it printed the key, or its terminal is gone. Null: there is nothing to replace.
 */
export async function replaceUnusedFirstKey(db: Db, accountId: string): Promise<CreatedApiKey | null> {
  const created = await inTransaction(db, async (tx) => {
    await lockKeysOf(tx, accountId);
    const keys = await sql<{ prefix: string; isUnused: boolean }>`
      select prefix, ${isUnusedFirstKey()} as "isUnused" from api_keys
      where account_id = ${accountId} and ${isValid()} limit 2`.execute(tx.query);
    const [only] = keys.rows;
    if (only === undefined || keys.rows.length > 1 || !only.isUnused) return null;
    await sql`delete from api_keys where prefix = ${only.prefix}`.execute(tx.query);
    const made = await createFirstApiKey(tx, accountId);
    await markFirstKeyUnused(tx, made.prefix);
    return made;
  });
  db.apiKeyCache.clear();
  return created;
}
