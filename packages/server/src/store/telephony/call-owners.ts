/** Whose call it is that a carrier asks about. */

import type { MediumKind } from "@parley/schema";
import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { preparedStatement } from "../database/prepared-statements.ts";

export interface CallOwner {
  readonly accountId: string;
  readonly mediumKind: MediumKind;
}

/** By id alone: a request of a carrier has no account before its signature was checked. */
export async function ownerOfCall(db: Db, callId: string): Promise<CallOwner | null> {
  const read = await sql<CallOwner>`${preparedStatement}
    select account_id as "accountId", medium_kind as "mediumKind" from calls where id = ${callId}`.execute(
    db.query,
  );
  return read.rows[0] ?? null;
}

/**
 * The carrier's id of a call that the service dials or that a webhook has announced; null: it is not known. `field`: that of
 * the webhook.
 */
export async function carrierCallOf(db: Db, callId: string, field: string): Promise<string | null> {
  const read = await sql<{ readonly carrierCallId: string | null }>`${preparedStatement}
    select coalesce(dials.carrier_call_id, calls.request_context -> calls.medium_kind ->> ${field}) as "carrierCallId"
    from calls left join carrier_dials as dials on dials.call_id = calls.id
    where calls.id = ${callId}`.execute(db.query);
  return read.rows[0]?.carrierCallId ?? null;
}
