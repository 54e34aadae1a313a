/** Lists of calls with filters and in several orders. The filters are in `call-filter.ts`. */

import { sql, type RawBuilder } from "kysely";
import { conditions, indexed, orderedBy, type CallFilter, type FilterName } from "./call-filter.ts";
import { matchLimits, readMatches, type MatchLimits } from "./call-matches.ts";
import { readCallRows } from "./call-rows.ts";
import { knownTotal, readTotal } from "./call-totals.ts";
import type { CallRow } from "./calls.ts";
import { pageOfSaid } from "../call-texts/said-calls.ts";
import type { Db } from "../database/db.ts";
import {
  readPage,
  type ListOrder,
  type PageQuery,
  type PageRows,
  type PositionColumns,
} from "../database/page.ts";

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
 * search for less than three letters or digits in a row cannot use an index and scans a bounded number of calls: a page
 * of rare matches may be short, and `total` covers only the newest calls.
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
  if (filter.transcriptSearch !== undefined) return listSaid(db, accountId, filter, page, sort);
  const given = conditions(accountId, filter);
  const inOrder = orderedBy(filter);
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
  return withRows(db, accountId, keys);
}

async function withRows(
  db: Db,
  accountId: string,
  keys: PageRows<PositionColumns>,
): Promise<PageRows<CallRow>> {
  const callIds = keys.rows.map((key) => String(key.page_id));
  return { ...keys, rows: await readCallRows(db, accountId, callIds) };
}

/** The filters that the index of transcripts serves itself. */
const OF_TEXTS: readonly FilterName[] = ["agents", "voice", "endReason"];

/** @throws RangeError for another order than that of the creation, which the index of transcripts does not have. */
async function listSaid(
  db: Db,
  accountId: string,
  filter: CallFilter,
  page: PageQuery,
  sort: CallSort,
): Promise<PageRows<CallRow>> {
  if (sort.field !== "created") throw new RangeError("sort");
  const given = conditions(accountId, filter);
  const time = given.get("time");
  const served: readonly FilterName[] = ["time", ...OF_TEXTS];
  const others = new Map([...given].filter(([name]) => !served.includes(name)));
  // Only calls that have ended are in the index.
  if (filter.status === "ended") others.delete("status");
  const found = await pageOfSaid(
    db,
    {
      accountId,
      search: filter.transcriptSearch ?? "",
      facts: filter,
      time: time === undefined ? [] : [time],
      along: [
        sql`calls.account_id = ${accountId}`,
        ...[...given].flatMap(([name, condition]) => (served.includes(name) ? [condition] : [])),
      ],
      others: [...others.values()],
      ways: indexed(accountId, filter, others),
      descending: sort.descending,
    },
    page,
  );
  return withRows(db, accountId, found);
}
