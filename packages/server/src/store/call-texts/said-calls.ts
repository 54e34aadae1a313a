/**
 * Pages of calls in which words were said. Other filters that match few calls are looked up first, and their calls are
 * then compared with the words. Otherwise the index of transcripts leads.
 */

import { sql, type RawBuilder } from "kysely";
import type { Db } from "../database/db.ts";
import {
  beyond,
  notBeyond,
  pageOf,
  positionOf,
  readingOrder,
  type ListOrder,
  type PageQuery,
  type PageRows,
  type PositionColumns,
} from "../database/page.ts";
import { pageOfTexts, textLimits, type TextLimits } from "./search-texts.ts";
import { textQuery, type WantedFacts } from "./text-entries.ts";
import { queryOfSpan, readSpans } from "./text-spans.ts";

export interface SaidShape {
  readonly accountId: string;
  readonly search: string;
  readonly facts: WantedFacts;
  /** Conditions on `calls.created_at`, which is a column of the index too. */
  readonly time: readonly RawBuilder<unknown>[];
  /** The account, the time and the conditions of the facts, on the table `calls`. */
  readonly along: readonly RawBuilder<unknown>[];
  /** All other conditions on the table `calls`. */
  readonly others: readonly RawBuilder<unknown>[];
  /** The other conditions as indexes serve them, as in `MatchShape`. */
  readonly ways: readonly (readonly RawBuilder<unknown>[])[] | null;
  readonly descending: boolean;
}

export interface SaidLimits extends TextLimits {
  /** Calls of the other filters that are compared with the words: about 100 ms. */
  readonly comparedCalls: number;
}

export const saidLimits: SaidLimits = { ...textLimits, comparedCalls: 4_000 };

/** A page may have fewer rows than its limit, or none, while there is a next page. */
export async function pageOfSaid(
  db: Db,
  shape: SaidShape,
  page: PageQuery,
  limits: SaidLimits = saidLimits,
): Promise<PageRows<PositionColumns>> {
  const { accountId, time, others, descending } = shape;
  const query = textQuery(shape.search, shape.facts);
  if (query === null) return pageOf(page, { ...nothing, total: 0, totalIsExact: true });
  if (others.length > 0 && shape.ways !== null) {
    const compared = await compareCalls(db, shape, shape.ways, query, page, limits);
    if (compared !== null) return compared;
  }
  const spans = await readSpans(db, accountId);
  return pageOfTexts(db, { accountId, query, time, others, descending }, spans, page, limits);
}

const nothing = { rows: [], first: null, last: null, ahead: false, behind: false };

interface ComparedColumns {
  readonly page_sort: PositionColumns["page_sort"] | null;
  readonly page_id: PositionColumns["page_id"];
  readonly chosen: number;
  readonly total: number;
  readonly behind: boolean;
}

/** Null: the other filters match too many calls. */
async function compareCalls(
  db: Db,
  shape: SaidShape,
  ways: readonly (readonly RawBuilder<unknown>[])[],
  query: string,
  page: PageQuery,
  { comparedCalls }: SaidLimits,
): Promise<PageRows<PositionColumns> | null> {
  const { after, limit } = page;
  const most = comparedCalls + 1;
  const chosen = ways.map(
    (conditions) => sql`(
      select calls.created_at as page_sort, calls.id as page_id from calls
      where ${sql.join([...shape.along, ...conditions], sql` and `)} limit ${most})`,
  );
  const found: ListOrder = {
    sort: sql`page_sort`,
    sortType: "timestamptz",
    id: sql`page_id`,
    idType: "uuid",
    descending: shape.descending,
  };
  // As a scalar, so that the texts are looked up one by one for the chosen calls.
  const isSaid = sql`(select words @@ ${queryOfSpan(query, sql`span_id`)} from call_texts where call_id = page_id)`;
  const read = await sql<ComparedColumns>`
    with chosen as materialized (
      select page_sort, page_id from (${sql.join(chosen, sql` union `)}) as each limit ${most}
    ), said as materialized (
      select page_sort, page_id from chosen where (select count(*) from chosen) < ${most} and ${isSaid}
    )
    select around.chosen, around.total, around.behind, page_sort, page_id
    from (
      select (select count(*) from chosen) as chosen, count(*) as total,
        exists (select 1 from said where ${after === null ? sql`false` : notBeyond(found, page, after)}) as behind
      from said
    ) as around left join (
      select page_sort, page_id from said where ${after === null ? sql`true` : beyond(found, page, after)}
      order by ${readingOrder(found, page)} limit ${limit + 1}
    ) as shown on true
    order by ${readingOrder(found, page)}`.execute(db.query);
  const [around] = read.rows;
  if (around === undefined || around.chosen === most) return null;
  const keys = read.rows.flatMap(({ page_sort: sort, page_id: id }) =>
    sort === null ? [] : [{ page_sort: sort, page_id: id }],
  );
  const rows = keys.slice(0, limit);
  return pageOf(page, {
    rows,
    first: positionOf(rows.at(0)),
    last: positionOf(rows.at(-1)),
    ahead: keys.length > limit,
    behind: around.behind,
    total: around.total,
    totalIsExact: true,
  });
}
