/** How calls over SIP ended at the other side, and how long they were. */

import { sql, type RawBuilder } from "kysely";
import type { Db } from "../database/db.ts";
import type { SipTermination } from "@parley/schema";

/** Without effect after the end of the call. */
export async function noteSipTermination(
  db: Db,
  accountId: string,
  callId: string,
  termination: SipTermination,
): Promise<void> {
  await sql`
    update calls set sip_termination = coalesce(sip_termination, ${termination})
    where id = ${callId} and account_id = ${accountId} and ended_at is null`.execute(db.query);
}

/**
 * Assignments of the statement that ends a call. Time counts from dialling, or from the INVITE; a call that was not
 * answered costs nothing. A call whose end is not known yet was hung up, or nobody has answered it.
 */
export function sipAtEnd(
  endedAt: RawBuilder<unknown>,
  unitMs: RawBuilder<unknown>,
  endReason: string,
): RawBuilder<unknown> {
  const elapsedMs = sql`greatest(0, round(extract(epoch from ${endedAt} - created_at) * 1000))::bigint`;
  return sql`sip_billed_ms = case when medium_kind = 'sip' and joined_at is not null
      then (${elapsedMs} + ${unitMs} - 1) / ${unitMs} * ${unitMs} end,
    sip_termination = case when medium_kind = 'sip' then coalesce(sip_termination,
      case when joined_at is null then 'TIMEOUT' when ${endReason}::text = 'connection_error' then 'UNKNOWN'
        else 'NORMAL' end) end`;
}
