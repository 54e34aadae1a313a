/** Totals of call lists from counters, or from an index alone, without reading the calls. */

import { sql, type RawBuilder } from "kysely";
import type { CallFilter, FilterName } from "./call-filter.ts";
import type { Db } from "../database/db.ts";
import { countedUpTo, totalOf, type KnownTotal, type PageRows } from "../database/page.ts";

/** Index entries that are counted: about 60 ms. */
export const COUNTED_ENTRIES = 400_000;

/** `given`: the condition of each filter. Null: the calls themselves must be counted. */
export function knownTotal(
  accountId: string,
  filter: CallFilter,
  given: ReadonlyMap<FilterName, RawBuilder<unknown>>,
  limit = COUNTED_ENTRIES,
): KnownTotal | null {
  const ofAccount = sql`calls.account_id = ${accountId}`;
  const isOnly = (...names: FilterName[]): boolean =>
    [...given.keys()].every((name) => names.includes(name)) && names.length > 0;
  if (given.size === 0) return { count: callsOfAccount(accountId), limit: null };
  if (isOnly("time")) return { count: callsOfTime(accountId, filter), limit: null };
  if (isOnly("agents")) return { count: callsOfAgents(accountId, filter.agentIds ?? []), limit: null };
  // For each there is an index with all columns that the count needs.
  const isOneAgent = filter.agentIds?.length === 1;
  const isServed =
    (isOneAgent && isOnly("agents", "time")) ||
    isOnly("voice", "time") ||
    isOnly("endReason", "time") ||
    (filter.hasErrors === true && isOnly("errors", "time"));
  if (isServed) {
    return countedUpTo(limit, sql`calls`, [ofAccount, ...given.values()]);
  }
  return null;
}

export async function readTotal(
  db: Db,
  known: KnownTotal,
): Promise<Pick<PageRows<unknown>, "total" | "totalIsExact">> {
  const read = await sql<{ total: number }>`select ${known.count} as total`.execute(db.query);
  return totalOf(read.rows[0]?.total ?? 0, known);
}

function callsOfAccount(accountId: string): RawBuilder<unknown> {
  return sql`(select coalesce(sum(calls), 0)::bigint from call_counts where account_id = ${accountId})`;
}

function callsOfAgents(accountId: string, agentIds: readonly string[]): RawBuilder<unknown> {
  return sql`(select coalesce(sum(calls), 0)::bigint from call_counts_of_agents
    where account_id = ${accountId} and agent_id = any(${[...agentIds]}::uuid[]))`;
}

/** Whole hours from counters, the time before and after them from the index. */
function callsOfTime(accountId: string, { fromDate, toDate }: CallFilter): RawBuilder<unknown> {
  const from = sql`${fromDate ?? "-infinity"}::timestamptz`;
  const to = sql`${toDate ?? "infinity"}::timestamptz`;
  const firstWhole = sql`date_trunc('hour', ${from} - interval '1 microsecond', 'UTC') + interval '1 hour'`;
  const wholeUntil = sql`date_trunc('hour', ${to}, 'UTC')`;
  const between = (...conditions: RawBuilder<unknown>[]): RawBuilder<unknown> => sql`(
    select count(*) from calls where account_id = ${accountId} and ${sql.join(conditions, sql` and `)})`;
  const parts = [
    sql`(select coalesce(sum(calls), 0)::bigint from call_counts_of_hours
      where account_id = ${accountId} and hour_at >= ${firstWhole} and hour_at < ${wholeUntil})`,
    ...(fromDate === undefined
      ? []
      : [between(sql`created_at >= ${from}`, sql`created_at < ${firstWhole}`, sql`created_at <= ${to}`)]),
    ...(toDate === undefined
      ? []
      : [
          between(
            sql`created_at >= ${wholeUntil}`,
            sql`created_at >= ${firstWhole}`,
            sql`created_at <= ${to}`,
          ),
        ]),
  ];
  return sql`(${sql.join(parts, sql` + `)})`;
}
