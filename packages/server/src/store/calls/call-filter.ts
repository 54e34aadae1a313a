/**
 * Filters of lists of calls. To add one, add its field to `CallFilter` and its condition to `conditions`. If it is
 * selective, create an index that begins with `account_id` and that serves the condition as written. If that index
 * ends with `created_at, id` and the condition is an equality, add the filter to `orderedBy`: the newest calls are then
 * read from the index in order.
 */

import type { EndReason } from "@parley/schema";
import { sql, type RawBuilder } from "kysely";
import { toJsonText } from "../database/json-text.ts";
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
  readonly status?: CallStatus | undefined;
  readonly endReason?: EndReason | undefined;
  /** Whether an engine failed, or an event has the severity error. */
  readonly hasErrors?: boolean | undefined;
  /** Words that were said in the call; only in `listCalls`, and only of calls that have ended. */
  readonly transcriptSearch?: string | undefined;
}

/** `waiting`: nobody has joined yet. */
export type CallStatus = "waiting" | "running" | "ended";

export type FilterName =
  | "agents"
  | "voice"
  | "duration"
  | "time"
  | "timeOfDay"
  | "metadata"
  | "search"
  | "status"
  | "endReason"
  | "errors";

/** The filter whose index has the calls in the order of their creation, and so leads to them directly. */
export function orderedBy(filter: CallFilter): FilterName | null {
  if (filter.hasErrors === true) return "errors";
  if (filter.agentIds?.length === 1) return "agents";
  if (filter.voiceId !== undefined) return "voice";
  return filter.endReason === undefined ? null : "endReason";
}

/** Conditions on `calls`, or on a table of that name with the columns that the filter uses. */
export function callConditions(accountId: string, filter: CallFilter): RawBuilder<unknown>[] {
  return [...conditions(accountId, filter).values()];
}

/** The condition of each filter, without that for words of the transcript. */
export function conditions(accountId: string, filter: CallFilter): Map<FilterName, RawBuilder<unknown>> {
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
  if (filter.status !== undefined) add("status", statusConditions[filter.status]);
  if (filter.endReason !== undefined) add("endReason", sql`calls.end_reason = ${filter.endReason}`);
  if (filter.hasErrors !== undefined)
    add("errors", filter.hasErrors ? sql`calls.has_errors` : sql`not calls.has_errors`);
  return found;
}

/**
 * The same conditions in the form that indexes serve. Texts, metadata and durations are indexed when a call has ended.
 * Running calls are few; `calls_active` lists them.
 */
export function indexed(
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

const statusConditions: Readonly<Record<CallStatus, RawBuilder<unknown>>> = {
  waiting: sql`calls.ended_at is null and calls.joined_at is null`,
  running: sql`calls.ended_at is null and calls.joined_at is not null`,
  ended: sql`calls.ended_at is not null`,
};

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
