/** The spans of an account in the index of transcripts, and reads of a few of them. */

import { sql, type RawBuilder } from "kysely";
import type { Db } from "../database/db.ts";
import { readingOrder, type ListOrder, type PagePosition, type PositionColumns } from "../database/page.ts";
import { ANY_SPAN } from "./text-entries.ts";

/** By the creation of calls: from `startsAt` until before `endsAt`. The newest span has no end. */
export interface TextSpan {
  readonly id: number;
  readonly startsAt: string;
  readonly endsAt: string | null;
}

/** Spans of an account that are read: ten million calls. Older calls are not searched. */
const SPANS_LIMIT = 1_000;

/** Newest first. */
export async function readSpans(db: Db, accountId: string): Promise<TextSpan[]> {
  const read = await sql<TextSpan>`
    select id, starts_at as "startsAt", lead(starts_at) over (order by starts_at) as "endsAt"
    from call_text_spans where account_id = ${accountId} order by starts_at desc limit ${SPANS_LIMIT}`.execute(
    db.query,
  );
  return read.rows;
}

/** What is searched for. Rows of the index are named `calls` in the conditions, with a column `call_id`. */
export interface TextShape {
  readonly accountId: string;
  /** Of `textQuery`. */
  readonly query: string;
  /** Conditions on `created_at`. */
  readonly time: readonly RawBuilder<unknown>[];
  /** Conditions on the table `calls` that the index does not serve. */
  readonly others: readonly RawBuilder<unknown>[];
  readonly descending: boolean;
}

export function textOrder({ descending }: Pick<TextShape, "descending">): ListOrder {
  return {
    sort: sql`calls.created_at`,
    sortType: "timestamptz",
    id: sql`calls.call_id`,
    idType: "uuid",
    descending,
  };
}

/** The query for one span, as a tsquery. */
export function queryOfSpan(query: string, spanId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`replace(${query}, ${ANY_SPAN}, ${spanId}::text)::tsquery`;
}

function matchesOf(shape: TextShape, conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  // As a scalar, so that the calls are looked up one by one for what the index has found.
  const others =
    shape.others.length === 0
      ? []
      : [sql`(select ${sql.join(shape.others, sql` and `)} from calls where calls.id = call_id)`];
  return sql`call_texts as calls where ${sql.join(
    [
      sql`words @@ ${queryOfSpan(shape.query, sql`span.id`)}`,
      sql`account_id = ${shape.accountId}`,
      ...shape.time,
      ...conditions,
      ...others,
    ],
    sql` and `,
  )}`;
}

function listed(spans: readonly TextSpan[]): RawBuilder<unknown> {
  return sql`unnest(${spans.map(({ id }) => id)}::bigint[]) as span (id)`;
}

/** Matches of each span, counted up to `most`. */
export async function countInSpans(
  db: Db,
  shape: TextShape,
  spans: readonly TextSpan[],
  most: number,
): Promise<ReadonlyMap<number, number>> {
  if (spans.length === 0) return new Map();
  const read = await sql<{ id: number; calls: number }>`
    select span.id, (
      select count(*) from (select 1 from ${matchesOf(shape, [])} limit ${most}) as counted
    ) as calls from ${listed(spans)}`.execute(db.query);
  return new Map(read.rows.map(({ id, calls }) => [id, calls]));
}

/** The first matches in the direction of reading. */
export async function readInSpans(
  db: Db,
  shape: TextShape,
  spans: readonly TextSpan[],
  page: PagePosition & { readonly limit: number },
  conditions: readonly RawBuilder<unknown>[],
): Promise<PositionColumns[]> {
  if (spans.length === 0) return [];
  const order = textOrder(shape);
  const found: ListOrder = { ...order, sort: sql`page_sort`, id: sql`page_id` };
  const read = await sql<PositionColumns>`
    select page_sort, page_id from ${listed(spans)} cross join lateral (
      select ${order.sort} as page_sort, ${order.id} as page_id from ${matchesOf(shape, conditions)}
      order by ${readingOrder(order, page)} limit ${page.limit}) as found
    order by ${readingOrder(found, page)} limit ${page.limit}`.execute(db.query);
  return read.rows;
}
