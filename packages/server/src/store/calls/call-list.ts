/**
 * Lists of calls with filters. To add a filter, add its field to `CallFilter` and its condition to `conditions`. If it
 * is selective, create an index that begins with `account_id` and that serves the condition as written. If that index
 * ends with `created_at, id` and the condition is an equality, add the filter to `isAlong`: the newest calls are then
 * read from the index in order.
 */

import { sql, type RawBuilder } from "kysely";
import { matchLimits, readMatches, type MatchLimits } from "./call-matches.ts";
import { readCallRows } from "./call-rows.ts";
import { knownTotal, readTotal } from "./call-totals.ts";
import type { CallRow } from "./calls.ts";
import type { Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";
import {
  readPage,
  type ListOrder,
  type PageQuery,
  type PageRows,
  type PositionColumns,
} from "../database/page.ts";
import { callSearchPattern, hasTrigram, likePattern, searchText } from "../database/search-text.ts";

/** All members that are set must match. */
export interface CallFilter {
  /** Calls of any of these agents. */
  readonly agentIds?: readonly string[] | undefined;
  /** Joined time, inclusive. Of a running call the time until now; 0 before the join. */
  readonly durationMinMs?: number | undefined;
  readonly durationMaxMs?: number | undefined;
  /** Creation time, inclusive, ISO 8601 with an offset. */
  readonly fromDate?: string | undefined;
  readonly toDate?: string | undefined;
  /** Time of day of the creation, UTC, `HH:MM:SS`, both inclusive. A start after the end spans midnight. */
  readonly timeOfDayStart?: string | undefined;
  readonly timeOfDayEnd?: string | undefined;
  /** All of these values. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Part of the agent's name, a summary or a metadata value, in any case; or a whole call id. */
  readonly search?: string | undefined;
  /** Calls whose first stage named this voice. */
  readonly voiceId?: string | undefined;
}

export interface CallSort {
  readonly field: "created" | "joined" | "ended" | "billedDuration" | "endReason";
  readonly descending: boolean;
}

const newestFirst: CallSort = { field: "created", descending: true };

/** Calls without a value sort as joined or ended later than all others; for the other fields as 0 or "". */
const sortExpressions: Record<CallSort["field"], Pick<ListOrder, "sort" | "sortType">> = {
  created: { sort: sql`calls.created_at`, sortType: "timestamptz" },
  joined: { sort: sql`coalesce(calls.joined_at, 'infinity'::timestamptz)`, sortType: "timestamptz" },
  ended: { sort: sql`coalesce(calls.ended_at, 'infinity'::timestamptz)`, sortType: "timestamptz" },
  billedDuration: { sort: sql`coalesce(calls.billed_duration_ms, 0)`, sortType: "bigint" },
  endReason: { sort: sql`coalesce(calls.end_reason, '')`, sortType: "text" },
};

/**
 * `total` is exact where counters or indexes provide it, see `call-totals.ts`, and otherwise up to `countedMatches`. A
 * search for less than three letters or digits in a row cannot use an index and scans a bounded number of calls: its
 * pages may be short, and `total` covers only the newest calls.
 */
export async function listCalls(
  db: Db,
  accountId: string,
  filter: CallFilter,
  page: PageQuery,
  sort: CallSort = newestFirst,
  limits: MatchLimits = matchLimits,
): Promise<PageRows<CallRow>> {
  const order: ListOrder = {
    ...sortExpressions[sort.field],
    id: sql`calls.id`,
    idType: "uuid",
    descending: sort.descending,
  };
  const given = conditions(accountId, filter);
  const inOrder: FilterName = filter.agentIds?.length === 1 ? "agents" : "voice";
  const isAlong = (name: FilterName): boolean =>
    sort.field === "created" && (name === "time" || name === inOrder);
  const along = [sql`calls.account_id = ${accountId}`];
  const others = new Map<FilterName, RawBuilder<unknown>>();
  for (const [name, condition] of given) {
    if (isAlong(name)) along.push(condition);
    else others.set(name, condition);
  }
  const known = knownTotal(accountId, filter, given);
  const found = await (others.size === 0
    ? readPage<PositionColumns>(
        db,
        {
          ...order,
          columns: sql`1`,
          from: sql`calls`,
          where: along,
          total: known ?? undefined,
        },
        page,
      )
    : readMatches(
        db,
        {
          ...order,
          along,
          others: [...others.values()],
          indexed: indexed(accountId, filter, others),
          limits,
        },
        page,
      ));
  const keys = found.totalIsExact || known === null ? found : { ...found, ...(await readTotal(db, known)) };
  const rows = await readCallRows(
    db,
    accountId,
    keys.rows.map((key) => String(key.page_id)),
  );
  return { ...keys, rows };
}

export type FilterName = "agents" | "voice" | "duration" | "time" | "timeOfDay" | "metadata" | "search";

/** Conditions on `calls`, or on a table of that name with the columns that the filter uses. */
export function callConditions(accountId: string, filter: CallFilter): RawBuilder<unknown>[] {
  return [...conditions(accountId, filter).values()];
}

/** The condition of each filter. */
function conditions(accountId: string, filter: CallFilter): Map<FilterName, RawBuilder<unknown>> {
  const found = new Map<FilterName, RawBuilder<unknown>>();
  const { agentIds, fromDate, toDate, metadata, search } = filter;
  const add = (name: FilterName, ...all: (RawBuilder<unknown> | false)[]): void => {
    const set = all.filter((condition) => condition !== false);
    if (set.length > 0) found.set(name, sql`(${sql.join(set, sql` and `)})`);
  };
  if (agentIds !== undefined) {
    const [only] = agentIds;
    add(
      "agents",
      agentIds.length === 1
        ? sql`calls.agent_id = ${only}::uuid`
        : sql`calls.agent_id = any(${[...agentIds]}::uuid[])`,
    );
  }
  if (filter.voiceId !== undefined) add("voice", sql`calls.voice_id = ${filter.voiceId}::uuid`);
  add("duration", ...durationConditions(joinedTimeMs(), filter));
  add(
    "time",
    fromDate !== undefined && sql`calls.created_at >= ${fromDate}::timestamptz`,
    toDate !== undefined && sql`calls.created_at <= ${toDate}::timestamptz`,
  );
  add("timeOfDay", ...timeOfDayConditions(filter));
  if (metadata !== undefined) add("metadata", sql`calls.metadata @> ${toJsonText(metadata)}::jsonb`);
  if (search !== undefined) {
    const ways = Object.values(searchConditions(accountId, search));
    add("search", sql`(${sql.join(ways, sql` or `)})`);
  }
  return found;
}

/**
 * The same conditions in the form that indexes serve. Texts, metadata and durations are indexed when a call has ended.
 * Running calls are few; `calls_active` lists them.
 */
function indexed(
  accountId: string,
  filter: CallFilter,
  others: ReadonlyMap<FilterName, RawBuilder<unknown>>,
): RawBuilder<unknown>[][] | null {
  const { agentIds, metadata, search } = filter;
  const isSearchable = search !== undefined && hasTrigram(search);
  if (search !== undefined && !isSearchable && agentIds === undefined && metadata === undefined) return null;
  const except = (...names: FilterName[]): RawBuilder<unknown>[] =>
    [...others].filter(([name]) => !names.includes(name)).map(([, condition]) => condition);
  const hasEnded = sql`calls.ended_at is not null`;
  const ended = [hasEnded, ...durationConditions(sql`calls.duration_ms`, filter)];
  const goesOn = [sql`calls.ended_at is null`, ...except()];
  if (isSearchable) {
    const { text, ...unchanging } = searchConditions(accountId, search);
    return [
      [...ended, text, ...except("duration", "search")],
      goesOn,
      ...Object.values(unchanging).map((condition) => [condition, ...except("search")]),
    ];
  }
  if (others.has("metadata") || others.has("duration")) return [[...ended, ...except("duration")], goesOn];
  return [except()];
}

export function durationConditions(
  durationMs: RawBuilder<unknown>,
  filter: CallFilter,
): RawBuilder<unknown>[] {
  const { durationMinMs, durationMaxMs } = filter;
  // A whole number within bigint, the type of the indexed column.
  const whole = (ms: number): number => Math.min(ms, Number.MAX_SAFE_INTEGER);
  return [
    ...(durationMinMs === undefined
      ? []
      : [sql`${durationMs} >= ${whole(Math.ceil(durationMinMs))}::bigint`]),
    ...(durationMaxMs === undefined
      ? []
      : [sql`${durationMs} <= ${whole(Math.floor(durationMaxMs))}::bigint`]),
  ];
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
  // As in the index `calls_by_time_of_day`.
  const time = sql`date_trunc('second', calls.created_at at time zone 'UTC')::time`;
  const afterStart = sql`${time} >= ${start}::time`;
  const beforeEnd = sql`${time} <= ${end}::time`;
  return start <= end ? [afterStart, beforeEnd] : [sql`(${afterStart} or ${beforeEnd})`];
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * A call matches if any of these does. Agents match by their present or last name, which is not part of the call's
 * text.
 */
function searchConditions(accountId: string, search: string): Record<"text" | "agent", RawBuilder<unknown>> {
  const named = likePattern(searchText([search]));
  const id = search.toLowerCase();
  return {
    text: sql`calls.search_text like ${callSearchPattern(accountId, search)}`,
    agent: sql`calls.agent_id in (
      select id from agents where account_id = ${accountId} and name_key like ${named})`,
    ...(UUID.test(id) ? { id: sql`calls.id = ${id}::uuid` } : {}),
  };
}
