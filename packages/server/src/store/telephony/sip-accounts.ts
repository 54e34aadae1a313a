/** Which accounts may use SIP, which the operator decides, and the sources that may call them. */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { preparedStatement } from "../database/prepared-statements.ts";

/** False also for an account that does not exist or is being removed. */
export async function isSipEnabled(db: Db, accountId: string): Promise<boolean> {
  const read = await sql<{ enabled: boolean }>`${preparedStatement}
    select sip_enabled as enabled from accounts where id = ${accountId} and removed_at is null`.execute(
    db.query,
  );
  return read.rows[0]?.enabled === true;
}

export async function setSipEnabled(db: Db, accountId: string, isEnabled: boolean): Promise<void> {
  await sql`update accounts set sip_enabled = ${isEnabled} where id = ${accountId}`.execute(db.query);
}

/** Ranges of all accounts that are kept in memory; each account has at most 100. */
const MAX_RANGES = 50_000;

/** The ranges from which any account takes calls. */
export async function readSipSources(db: Db): Promise<readonly string[]> {
  const read = await sql<{ range: string }>`
    select distinct listed.range from sip_configs
      join accounts on accounts.id = sip_configs.account_id and accounts.sip_enabled and accounts.removed_at is null
      cross join json_array_elements_text(sip_configs.allowed_cidr_ranges) as listed (range)
    limit ${MAX_RANGES}`.execute(db.query);
  return read.rows.map(({ range }) => range);
}
