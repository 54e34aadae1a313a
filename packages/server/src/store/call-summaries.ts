/** What a call was about, written after its end. */

import { sql } from "kysely";
import type { Db } from "./db.ts";
import { toStorableText } from "./json-text.ts";
import { callSearchText } from "./search-text.ts";

export interface CallSummaries {
  readonly shortSummary: string | null;
  readonly summary: string | null;
}

/** Keeps them where they can be searched. False: the account has no such call, or what was said in it is erased. */
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
  // Metadata never changes, so what was read is still so.
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
