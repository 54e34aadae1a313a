/** Metering: the billing status of calls, and the usage figures. */

import { sql, type RawBuilder } from "kysely";
import { ownCallColumns } from "../database/call-columns.ts";
import { databaseTime, laterBy, type SqlTime } from "../database/database-time.ts";
import { repeatAborted, type Db } from "../database/db.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { insertDeliveries } from "../webhooks/webhook-events.ts";

export interface Metering {
  /** Joined time is rounded up to a multiple of this. */
  readonly unitMs: number;
  /** False: calls are free. */
  readonly enabled: boolean;
  /** Whether calls of the console are free. */
  readonly consoleIsFree: boolean;
}

export const DEFAULT_METERING: Metering = { unitMs: 6_000, enabled: true, consoleIsFree: true };

/** The order in which statements lock rows of `usage_hours`, so that no two of them wait for each other. */
const HOUR_ORDER = sql`account_id, hour_at, agent_id`;

/** In `usage_hours`, where a key column cannot be null. */
export const WITHOUT_AGENT = "00000000-0000-0000-0000-000000000000";

/** The hour of a call's creation. */
const hourOfCall = sql`date_trunc('hour', created_at, 'UTC')`;

const agentOfCall = sql`coalesce(agent_id, ${WITHOUT_AGENT}::uuid)`;

/** For `order by` on calls that one transaction ends one after the other: the order of their usage hours. */
export const callsInHourOrder = sql`account_id, ${hourOfCall}, ${agentOfCall}`;

const billedMs = sql`case when billing_status = 'BILLED' then coalesce(billed_duration_ms, 0) else 0 end`;

const sipBilledMs = sql`case when billing_status = 'BILLED' then coalesce(sip_billed_ms, 0) else 0 end`;

/** The final billing status of a row of `calls`, which only a refund changes. Both values are SQL. */
export function finalStatus(
  { enabled, consoleIsFree }: Metering,
  joinedMs: RawBuilder<unknown>,
  endReason: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`case when coalesce(${joinedMs}, 0) = 0 then 'FREE_ZERO_EFFECTIVE_DURATION'
    when ${endReason} = 'system_error' then 'FREE_SYSTEM_ERROR'
    when calls.is_of_console and ${consoleIsFree}::boolean then 'FREE_CONSOLE'
    when not ${enabled}::boolean then 'FREE_OTHER' else 'BILLED' end`;
}

/**
 * A statement that adds calls which have just ended to the usage figures; `ended` is a table with columns of `calls`.
 */
export function countEndedCalls(ended: string): RawBuilder<unknown> {
  return sql`insert into usage_hours (account_id, hour_at, agent_id, calls, joined, errors, duration_ms, billed_ms,
      sip_billed_ms)
    select account_id, ${hourOfCall}, ${agentOfCall}, 1, (joined_at is not null)::int,
      (end_reason in ('connection_error', 'system_error'))::int, coalesce(duration_ms, 0), ${billedMs}, ${sipBilledMs}
    from ${sql.table(ended)}
    on conflict (account_id, hour_at, agent_id) do update set calls = usage_hours.calls + excluded.calls,
      joined = usage_hours.joined + excluded.joined, errors = usage_hours.errors + excluded.errors,
      duration_ms = usage_hours.duration_ms + excluded.duration_ms,
      billed_ms = usage_hours.billed_ms + excluded.billed_ms,
      sip_billed_ms = usage_hours.sip_billed_ms + excluded.sip_billed_ms`;
}

/** Calls settled by one statement; bounds its locks. */
const SETTLED_AT_ONCE = 500;

/**
 * Gives ended calls that are still pending their final status, adds what is billed to the usage figures, and notifies
 * webhooks. Nothing else makes a pending call final. `which` is a condition on `calls`.
 */
async function settle(db: Db, metering: Metering, which: RawBuilder<unknown>): Promise<number> {
  return repeatAborted(db, async () => {
    const settled = await sql`${preparedStatement}
    with chosen as (
      select id from calls where ended_at is not null and billing_status = 'PENDING' and ${which}
      order by id limit ${SETTLED_AT_ONCE} for update
    ), settled as (
      update calls set billing_status = ${finalStatus(metering, sql`duration_ms`, sql`end_reason`)}
      from chosen where calls.id = chosen.id returning ${ownCallColumns}
    ), notified as (
      ${insertDeliveries("settled", "call.billed", databaseTime)}
    ), sums as (
      select account_id, ${hourOfCall} as hour_at, ${agentOfCall} as agent_id, sum(${billedMs}) as billed_ms,
        sum(${sipBilledMs}) as sip_billed_ms
      from settled group by 1, 2, 3
    ), hours as (
      select usage_hours.account_id, usage_hours.hour_at, usage_hours.agent_id, sums.billed_ms,
        sums.sip_billed_ms
      from usage_hours join sums using (account_id, hour_at, agent_id)
      order by ${HOUR_ORDER} for update of usage_hours
    ), billed as (
      update usage_hours set billed_ms = usage_hours.billed_ms + hours.billed_ms,
        sip_billed_ms = usage_hours.sip_billed_ms + hours.sip_billed_ms from hours
      where usage_hours.account_id = hours.account_id and usage_hours.hour_at = hours.hour_at
        and usage_hours.agent_id = hours.agent_id
    )
    select 1 from settled`.execute(db.query);
    return settled.rows.length;
  });
}

/** False: the account has no such call, or it is not pending after its end. */
export async function settleCall(
  db: Db,
  accountId: string,
  callId: string,
  metering: Metering,
): Promise<boolean> {
  return (await settle(db, metering, sql`id = ${callId} and account_id = ${accountId}`)) === 1;
}

/**
 * Settles calls of any account that ended more than `pendingMs` ago and stayed pending because of a crash. Returns their
 * number.
 */
export async function settleOverdueCalls(
  db: Db,
  metering: Metering,
  pendingMs: number,
  time: SqlTime = databaseTime,
): Promise<number> {
  return settle(db, metering, sql`ended_at < ${laterBy(time, -pendingMs)}`);
}

/**
 * Refunds a call, deleted or not, and subtracts it from the usage figures. For the operator, so for calls of any
 * account. Returns the account; null: there is no such call, or it was not billed.
 */
export async function refundCall(db: Db, callId: string): Promise<string | null> {
  const refund = (table: string): RawBuilder<unknown> => sql`
    update ${sql.table(table)} set billing_status = 'REFUNDED'
    where id = ${callId} and billing_status = 'BILLED'
    returning account_id, ${hourOfCall} as hour_at, ${agentOfCall} as agent_id, billed_duration_ms as billed_ms,
      coalesce(sip_billed_ms, 0) as sip_billed_ms`;
  const refunded = await sql<{ accountId: string }>`
    with of_call as (${refund("calls")}), of_deleted as (${refund("deleted_calls")}),
    refunded as (select * from of_call union all select * from of_deleted),
    taken as (
      update usage_hours set billed_ms = usage_hours.billed_ms - refunded.billed_ms,
        sip_billed_ms = usage_hours.sip_billed_ms - refunded.sip_billed_ms from refunded
      where usage_hours.account_id = refunded.account_id and usage_hours.hour_at = refunded.hour_at
        and usage_hours.agent_id = refunded.agent_id
    )
    select account_id as "accountId" from refunded`.execute(db.query);
  return refunded.rows[0]?.accountId ?? null;
}
