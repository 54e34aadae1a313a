/** A mark on the key that the first start prints, until a request uses it. */

import { sql, type RawBuilder } from "kysely";
import type { Db } from "../database/db.ts";

/** Its row contains the prefix of the key. */
const UNUSED_FIRST_KEY = "unused_first_key";

export async function markFirstKeyUnused(db: Db, prefix: string): Promise<void> {
  await sql`insert into store_settings (name, value) values (${UNUSED_FIRST_KEY}, ${prefix})
    on conflict (name) do update set value = excluded.value`.execute(db.query);
}

/** A condition on a row of `api_keys`. */
export function isUnusedFirstKey(): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select 1 from store_settings where name = ${UNUSED_FIRST_KEY} and value = api_keys.prefix)`;
}

export async function markFirstKeyUsed(db: Db, prefix: string): Promise<void> {
  await sql`delete from store_settings where name = ${UNUSED_FIRST_KEY} and value = ${prefix}`.execute(
    db.query,
  );
}
