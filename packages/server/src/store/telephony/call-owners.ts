/** Whose call it is that a carrier asks about. */

import type { MediumKind } from "@parley/schema";
import { sql } from "kysely";
import type { Db } from "../database/db.ts";

export interface CallOwner {
  readonly accountId: string;
  readonly mediumKind: MediumKind;
}

/** By id alone: a request of a carrier has no account before its signature was checked. */
export async function ownerOfCall(db: Db, callId: string): Promise<CallOwner | null> {
  const read = await sql<CallOwner>`
    select account_id as "accountId", medium_kind as "mediumKind" from calls where id = ${callId}`.execute(
    db.query,
  );
  return read.rows[0] ?? null;
}
