/**
 * Usage figures. Filters by whole hours and agents read `usage_hours`, which is updated when a call ends; other filters
 * count the calls themselves. Deleted calls count in both.
 */

import { sql, type RawBuilder } from "kysely";
import { callConditions, type CallFilter } from "../calls/call-filter.ts";
import type { Db } from "../database/db.ts";
import { deletedAsCalls, filterOfDeleted } from "../calls/deleted-calls.ts";
import { WITHOUT_AGENT } from "./metering.ts";

export interface UsageFigures {
  readonly calls: number;
  readonly joined: number;
  /** Ended with connection_error or system_error. */
  readonly errors: number;
  /** Joined time of calls that have ended. */
  readonly durationMs: number;
  /** Of calls that were billed and not refunded. */
  readonly billedMs: number;
}

export interface UsageOf extends UsageFigures {
  /** Start of the day or hour, ISO 8601 UTC with milliseconds. */
  readonly at: string;
}

export interface CallUsageRows {
  readonly all: UsageFigures;
  /** Those with calls, oldest first; at most the newest ones up to the limit. */
  readonly days: readonly UsageOf[];
  readonly hours: readonly UsageOf[];
}

const NOTHING: UsageFigures = { calls: 0, joined: 0, errors: 0, durationMs: 0, billedMs: 0 };

const sums = sql`coalesce(sum(calls), 0)::bigint as calls, coalesce(sum(joined), 0)::bigint as joined,
  coalesce(sum(errors), 0)::bigint as errors, coalesce(sum(duration_ms), 0)::bigint as "durationMs",
  coalesce(sum(billed_ms), 0)::bigint as "billedMs"`;

const day = sql`date_trunc('day', hour_at, 'UTC')`;

/** @param limits maximum number of days and of hours */
export async function readCallUsage(
  db: Db,
  accountId: string,
  filter: CallFilter,
  limits: { readonly days: number; readonly hours: number },
): Promise<CallUsageRows> {
  const read = await sql<UsageOf & { readonly level: "all" | "day" | "hour" }>`
    with facts as (${factsOf(accountId, filter)}), hours as materialized (
      select hour_at, sum(calls) as calls, sum(joined) as joined, sum(errors) as errors,
        sum(duration_ms) as duration_ms, sum(billed_ms) as billed_ms
      from facts group by hour_at
    )
    select 'all' as level, null::timestamptz as at, ${sums} from hours
    union all (select 'day', ${day}, ${sums} from hours group by 2 order by 2 desc limit ${limits.days})
    union all (select 'hour', hour_at, ${sums} from hours group by 2 order by 2 desc limit ${limits.hours})`.execute(
    db.query,
  );
  const all = read.rows.find(({ level }) => level === "all");
  return {
    all: all === undefined ? NOTHING : figuresOf(all),
    days: ascending(read.rows.filter(({ level }) => level === "day")),
    hours: ascending(read.rows.filter(({ level }) => level === "hour")),
  };
}

function ascending(rows: readonly UsageOf[]): UsageOf[] {
  return rows.map((row) => ({ at: row.at, ...figuresOf(row) })).sort((a, b) => (a.at < b.at ? -1 : 1));
}

function figuresOf({ calls, joined, errors, durationMs, billedMs }: UsageFigures): UsageFigures {
  return { calls, joined, errors, durationMs, billedMs };
}

export interface AgentDay {
  readonly agentId: string;
  readonly agentName: string;
  /** Begin of the day, ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly calls: number;
  readonly billedMs: number;
}

/**
 * Days with calls, by agent and then oldest first; at most the newest `limit` of all agents. Calls without an agent are
 * left out.
 */
export async function readAgentUsage(
  db: Db,
  accountId: string,
  filter: CallFilter,
  limit: number,
): Promise<readonly AgentDay[]> {
  const read = await sql<AgentDay>`
    with facts as (${factsOf(accountId, filter)}), days as (
      select agent_id, ${day} as at, sum(calls)::bigint as calls, sum(billed_ms)::bigint as billed_ms
      from facts where agent_id <> ${WITHOUT_AGENT}::uuid group by 1, 2 order by 2 desc, 1 limit ${limit}
    )
    select days.agent_id as "agentId", agents.name as "agentName", days.at, days.calls, days.billed_ms as "billedMs"
    from days join agents on agents.id = days.agent_id and agents.account_id = ${accountId}
    order by agents.name_key, agents.id, days.at`.execute(db.query);
  return read.rows;
}

export interface BilledDay {
  /** Begin of the day, ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly billedMs: number;
  readonly sipBilledMs: number;
}

/** Days with ended calls, oldest first; at most the newest `limit`. Both times are inclusive, ISO 8601. */
export async function readBilledDays(
  db: Db,
  accountId: string,
  { fromDate, toDate }: Pick<CallFilter, "fromDate" | "toDate">,
  limit: number,
): Promise<readonly BilledDay[]> {
  const read = await sql<BilledDay>`
    select ${day} as at, sum(billed_ms)::bigint as "billedMs", sum(sip_billed_ms)::bigint as "sipBilledMs"
    from usage_hours where ${sql.join(hourConditions(accountId, { fromDate, toDate }), sql` and `)}
    group by 1 order by 1 desc limit ${limit}`.execute(db.query);
  return read.rows.toReversed();
}

/** A query of hour_at, agent_id, calls, joined, errors, duration_ms, billed_ms. */
function factsOf(accountId: string, filter: CallFilter): RawBuilder<unknown> {
  const where = [sql`calls.account_id = ${accountId}`, ...callConditions(accountId, filter)];
  // Separate, because the indexes for metadata and texts contain only ended calls.
  const running = factsOfCalls(sql`calls`, [sql`calls.ended_at is null`, ...where]);
  if (isOfWholeHours(filter)) {
    return sql`select hour_at, agent_id, calls, joined, errors, duration_ms, billed_ms
      from usage_hours where ${sql.join(hourConditions(accountId, filter), sql` and `)} union all ${running}`;
  }
  const over = factsOfCalls(sql`calls`, [sql`calls.ended_at is not null`, ...where]);
  if (filterOfDeleted(filter) === null) return sql`${over} union all ${running}`;
  return sql`${over} union all ${running} union all ${factsOfCalls(deletedAsCalls, where)}`;
}

function factsOfCalls(from: RawBuilder<unknown>, where: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql`select date_trunc('hour', calls.created_at, 'UTC') as hour_at,
      coalesce(calls.agent_id, ${WITHOUT_AGENT}::uuid) as agent_id, count(*) as calls,
      count(calls.joined_at) as joined,
      count(*) filter (where calls.end_reason in ('connection_error', 'system_error')) as errors,
      coalesce(sum(calls.duration_ms), 0) as duration_ms,
      coalesce(sum(calls.billed_duration_ms) filter (where calls.billing_status = 'BILLED'), 0) as billed_ms
    from ${from} where ${sql.join(where, sql` and `)} group by 1, 2`;
}

const HOUR_BEGINS = /:00:00\.000Z$/;
const HOUR_ENDS = /:59:59\.999Z$/;

/** Whether the filter selects whole hours of an agent. */
function isOfWholeHours(filter: CallFilter): boolean {
  const { agentIds: _, fromDate, toDate, metadata, ...deeper } = filter;
  return (
    Object.values(deeper).every((value) => value === undefined) &&
    Object.keys(metadata ?? {}).length === 0 &&
    (fromDate === undefined || HOUR_BEGINS.test(fromDate)) &&
    (toDate === undefined || HOUR_ENDS.test(toDate))
  );
}

function hourConditions(
  accountId: string,
  { agentIds, fromDate, toDate }: Pick<CallFilter, "agentIds" | "fromDate" | "toDate">,
): RawBuilder<unknown>[] {
  const found = [sql`account_id = ${accountId}`];
  if (agentIds !== undefined) found.push(sql`agent_id = any(${[...agentIds]}::uuid[])`);
  if (fromDate !== undefined) found.push(sql`hour_at >= ${fromDate}::timestamptz`);
  if (toDate !== undefined) found.push(sql`hour_at <= ${toDate}::timestamptz`);
  return found;
}
