/** Tokens of the side threads of a call. */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";

/** Of all generations of side threads so far. */
export interface SideTokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The higher counts stay, so that a late or repeated write changes nothing. False: the account has no such call. */
export async function saveSideTokens(
  db: Db,
  accountId: string,
  callId: string,
  { inputTokens, outputTokens }: SideTokenCounts,
): Promise<boolean> {
  const saved = await sql`
    update calls set
      side_input_tokens = greatest(side_input_tokens, ${inputTokens}::bigint),
      side_output_tokens = greatest(side_output_tokens, ${outputTokens}::bigint)
    where id = ${callId} and account_id = ${accountId}`.execute(db.query);
  return saved.numAffectedRows === 1n;
}
