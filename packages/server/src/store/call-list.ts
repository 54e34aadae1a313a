/** Lists of calls with their filters. */

import { sql, type RawBuilder } from "kysely";
import { callColumns, callsWithAgents, toCallRow, type CallColumns } from "./call-rows.ts";
import type { CallRow } from "./calls.ts";
import type { Db } from "./db.ts";
import { toJsonText } from "./json-text.ts";
import { readPage, type ListShape, type PageQuery, type PageRows } from "./page.ts";
import { likePattern, searchText } from "./search-text.ts";

/** All that are set must hold. */
export interface CallFilter {
  /** Calls of any of these agents. */
  readonly agentIds?: readonly string[] | undefined;
  /** Joined time, inclusive; of a call that goes on, the time until now; 0 before the join. */
  readonly durationMinMs?: number | undefined;
  readonly durationMaxMs?: number | undefined;
  /** Creation time, inclusive, ISO 8601 with an offset. */
  readonly fromDate?: string | undefined;
  readonly toDate?: string | undefined;
  /** Creation time of day, UTC, `HH:MM:SS`, both inclusive; a start after the end spans midnight. */
  readonly timeOfDayStart?: string | undefined;
  readonly timeOfDayEnd?: string | undefined;
  /** All of these values. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Part of the agent's name, a summary or a metadata value, whatever its case; or a call's whole id. */
  readonly search?: string | undefined;
}

export interface CallSort {
  readonly field: "created" | "joined" | "ended" | "billedDuration" | "endReason";
  readonly descending: boolean;
}

const newestFirst: CallSort = { field: "created", descending: true };

/** Calls without a value of the sort field count as joined or ended later than all others, and as 0 or "" else. */
const sortExpressions: Record<CallSort["field"], Pick<ListShape, "sort" | "sortType">> = {
  created: { sort: sql`calls.created_at`, sortType: "timestamptz" },
  joined: { sort: sql`coalesce(calls.joined_at, 'infinity'::timestamptz)`, sortType: "timestamptz" },
  ended: { sort: sql`coalesce(calls.ended_at, 'infinity'::timestamptz)`, sortType: "timestamptz" },
  billedDuration: { sort: sql`coalesce(calls.billed_duration_ms, 0)`, sortType: "bigint" },
  endReason: { sort: sql`coalesce(calls.end_reason, '')`, sortType: "text" },
};

export async function listCalls(
  db: Db,
  accountId: string,
  filter: CallFilter,
  page: PageQuery,
  sort: CallSort = newestFirst,
): Promise<PageRows<CallRow>> {
  const read = await readPage<CallColumns>(
    db,
    {
      columns: callColumns,
      from: callsWithAgents,
      where: [sql`calls.account_id = ${accountId}`, ...conditions(filter)],
      ...sortExpressions[sort.field],
      id: sql`calls.id`,
      idType: "uuid",
      descending: sort.descending,
    },
    page,
  );
  return { ...read, rows: read.rows.map((columns) => toCallRow(db, columns)) };
}

function conditions(filter: CallFilter): RawBuilder<unknown>[] {
  const found: RawBuilder<unknown>[] = [];
  const { agentIds, durationMinMs, durationMaxMs, fromDate, toDate, metadata, search } = filter;
  if (agentIds !== undefined) found.push(sql`calls.agent_id = any(${[...agentIds]}::uuid[])`);
  if (durationMinMs !== undefined) found.push(sql`${joinedTimeMs()} >= ${durationMinMs}::numeric`);
  if (durationMaxMs !== undefined) found.push(sql`${joinedTimeMs()} <= ${durationMaxMs}::numeric`);
  if (fromDate !== undefined) found.push(sql`calls.created_at >= ${fromDate}::timestamptz`);
  if (toDate !== undefined) found.push(sql`calls.created_at <= ${toDate}::timestamptz`);
  if (metadata !== undefined) found.push(sql`calls.metadata @> ${toJsonText(metadata)}::jsonb`);
  if (search !== undefined) found.push(searchCondition(search));
  found.push(...timeOfDayConditions(filter));
  return found;
}

function joinedTimeMs(): RawBuilder<unknown> {
  const untilNow = sql`round(extract(epoch from ${new Date()}::timestamptz - calls.joined_at) * 1000)`;
  return sql`coalesce(calls.duration_ms, ${untilNow}, 0)`;
}

function timeOfDayConditions(filter: CallFilter): RawBuilder<unknown>[] {
  const { timeOfDayStart, timeOfDayEnd } = filter;
  if (timeOfDayStart === undefined && timeOfDayEnd === undefined) return [];
  const start = timeOfDayStart ?? "00:00:00";
  const end = timeOfDayEnd ?? "23:59:59";
  const time = sql`date_trunc('second', calls.created_at at time zone 'UTC')::time`;
  const afterStart = sql`${time} >= ${start}::time`;
  const beforeEnd = sql`${time} <= ${end}::time`;
  return [start <= end ? sql`(${afterStart} and ${beforeEnd})` : sql`(${afterStart} or ${beforeEnd})`];
}

function searchCondition(search: string): RawBuilder<unknown> {
  const pattern = likePattern(searchText([search]));
  const exactId = sql`calls.id::text = ${search.toLowerCase()}`;
  return sql`(calls.search_text like ${pattern} or agents.name_key like ${pattern} or ${exactId})`;
}
