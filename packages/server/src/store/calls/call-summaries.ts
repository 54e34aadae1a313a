/** Summaries of calls, written after their end. */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { toStorableText } from "../database/json-text.ts";
import { callSearchText } from "../database/search-text.ts";

export interface CallSummaries {
  readonly shortSummary: string | null;
  readonly summary: string | null;
}

/** Stores them and updates the search text. False: the account has no such call, or its transcript is erased. */
export async function setCallSummaries(
  db: Db,
  accountId: string,
  callId: string,
  { shortSummary, summary }: CallSummaries,
): Promise<boolean> {
  const call = await db.query
    .selectFrom("calls")
    .select("metadata")
    .where("id", "=", callId)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  if (call === undefined) return false;
  // Metadata never changes, so no lock is needed.
  const updated = await db.query
    .updateTable("calls")
    .set({
      short_summary: shortSummary === null ? null : toStorableText(shortSummary),
      summary: summary === null ? null : toStorableText(summary),
      search_text: callSearchText(accountId, { metadata: call.metadata, shortSummary, summary }),
    })
    .where("id", "=", callId)
    .where("account_id", "=", accountId)
    .where(sql<boolean>`not transcript_erased`)
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}
