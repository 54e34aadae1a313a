/** The progress of a dialled call at its carrier, and the note that the phone rings. */

import { sql } from "kysely";
import { databaseTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";
import { selectList, type Selected } from "../database/select-list.ts";

const dialColumns = selectList("carrier_dials", {
  carrierCallId: "carrier_call_id",
  result: "result",
  detail: "detail",
  talkedMs: "talked_ms",
  dialledAt: "dialled_at",
  ringingAt: "ringing_at",
  answeredAt: "answered_at",
  endedAt: "ended_at",
});

export type DialState = Selected<typeof dialColumns>;

/** Null: the service has not dialled the call, or more than two days ago. */
export async function readDialState(db: Db, accountId: string, callId: string): Promise<DialState | null> {
  const read = await sql<DialState>`
    select ${dialColumns} from carrier_dials
    where call_id = ${callId} and account_id = ${accountId}`.execute(db.query);
  return read.rows[0] ?? null;
}

/** Stores that the phone rings. A callback that comes twice, after the answer, or after the end changes nothing. */
export async function noteRinging(db: Db, accountId: string, callId: string): Promise<void> {
  await sql`
    update carrier_dials set ringing_at = ${databaseTime}
    where call_id = ${callId} and account_id = ${accountId}
      and ringing_at is null and answered_at is null and result is null`.execute(db.query);
}
