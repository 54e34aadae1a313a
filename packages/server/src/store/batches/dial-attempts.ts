/** Dial attempts at numbers, which batches can limit per day. */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";

/** Length of the sliding window. */
const COUNTED_HOURS = 24;

const now = sql`statement_timestamp()`;

/**
 * Counts an attempt at a number, within the transaction that stores the intent to dial. Returns 0 when the attempt was
 * counted, otherwise the ms until the number may be dialled. `most` null: no limit; it counts for other batches.
 */
export async function countDialAttempt(
  tx: Db,
  accountId: string,
  number: string,
  most: number | null,
): Promise<number> {
  if (most !== null) {
    // Calls to one number wait for each other, on all nodes.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${accountId} ${number}`}, 0))`.execute(
      tx.query,
    );
    const full = await sql<{ waitMs: number }>`
      select ceil(extract(epoch from dialled_at + make_interval(hours => ${COUNTED_HOURS}) - ${now}) * 1000)::bigint
        as "waitMs"
      from dial_attempts where account_id = ${accountId} and number = ${number}
        and dialled_at > ${now} - make_interval(hours => ${COUNTED_HOURS})
      order by dialled_at desc offset ${most - 1} limit 1`.execute(tx.query);
    const [oldest] = full.rows;
    if (oldest !== undefined) return Math.max(1, oldest.waitMs);
  }
  await sql`
    insert into dial_attempts (account_id, number, dialled_at) values (${accountId}, ${number}, ${now})`.execute(
    tx.query,
  );
  return 0;
}

/** Rows deleted by one statement; bounds its locks. */
const SWEEP_PORTION = 1_000;

/** Deletes attempts that have left the window. True: there may be more. */
export async function sweepDialAttempts(db: Db): Promise<boolean> {
  const swept = await sql`
    delete from dial_attempts where ctid in (
      select ctid from dial_attempts where dialled_at <= ${now} - make_interval(hours => ${COUNTED_HOURS})
      limit ${SWEEP_PORTION} for update skip locked)
    returning number`.execute(db.query);
  return swept.rows.length === SWEEP_PORTION;
}
