/** Keyset paging by (sort value, id): rows inserted or deleted meanwhile never move another row to another page. */

import { sql, type RawBuilder } from "kysely";
import type { Db } from "./db.ts";

/** Position of a row in its list. Timestamps are ISO strings (`infinity` for none), durations and ordinals numbers. */
export interface RowPosition {
  readonly sortValue: string | number;
  readonly id: string;
}

/**
 * Where a page begins. `forward`: the rows after `after`, or the first page. `backward`: the rows before `after`, or
 * the last page. Rows are in list order in both cases.
 */
export interface PagePosition {
  readonly after: RowPosition | null;
  readonly direction: "forward" | "backward";
}

export interface PageQuery extends PagePosition {
  /** Rows of a page, at least 1. */
  readonly limit: number;
}

export interface PageRows<Row> {
  readonly rows: Row[];
  /** Number of rows of the list when it was read. */
  readonly total: number;
  /** False: counting stopped at a limit, and there are at least `total`. */
  readonly totalIsExact: boolean;
  /** Position of the following page, null at the end. */
  readonly next: PagePosition | null;
  /** Position of the page before, null at the beginning. */
  readonly previous: PagePosition | null;
}

/** How a list is divided into pages. The sort expression is never null, so that rows can be compared. */
export interface ListShape {
  readonly columns: RawBuilder<unknown>;
  /** Tables with their joins. */
  readonly from: RawBuilder<unknown>;
  /** Conditions, all of which must hold; the account is always one of them. */
  readonly where: readonly RawBuilder<unknown>[];
  readonly sort: RawBuilder<unknown>;
  readonly sortType: "timestamptz" | "bigint" | "text";
  readonly id: RawBuilder<unknown>;
  readonly idType: "uuid" | "text" | "bigint";
  readonly descending: boolean;
  /** A faster way to the number of rows than counting them. */
  readonly total?: KnownTotal | undefined;
}

/** The order of most lists: the newest row first. */
export const newestFirst = {
  sort: sql`created_at`,
  sortType: "timestamptz",
  id: sql`id`,
  idType: "uuid",
  descending: true,
} as const;

export interface KnownTotal {
  /** A scalar. */
  readonly count: RawBuilder<unknown>;
  /** Counting stops here; null: no limit. */
  readonly limit: number | null;
}

/** Rows that are counted for `total`: about 15 ms with an index-only scan. */
export const COUNTED_ROWS = 100_000;

/** Counts rows up to `limit`. */
export function countedUpTo(
  limit: number,
  from: RawBuilder<unknown>,
  where: readonly RawBuilder<unknown>[],
): KnownTotal {
  const rows = sql`select 1 from ${from} where ${sql.join(where, sql` and `)} limit ${limit + 1}`;
  return { count: sql`(select count(*) from (${rows}) as counted)`, limit };
}

export function totalOf(
  count: number,
  { limit }: Pick<KnownTotal, "limit">,
): Pick<PageRows<unknown>, "total" | "totalIsExact"> {
  const isMore = limit !== null && count > limit;
  return { total: isMore ? limit : count, totalIsExact: !isMore };
}

export interface PositionColumns {
  readonly page_sort: string | number;
  readonly page_id: string | number;
}

interface Surroundings {
  readonly total: number;
  readonly behind: boolean;
}

/**
 * Reads one page: one statement for the rows, one for the rows behind them and the total. With an index on the
 * conditions' columns, the sort expression and the id, no page costs more than the first.
 */
export async function readPage<Columns extends object>(
  db: Db,
  shape: ListShape,
  page: PageQuery,
): Promise<PageRows<Columns>> {
  const { after } = page;
  const order = readingOrder(shape, page);
  const where = after === null ? shape.where : [...shape.where, beyond(shape, page, after)];
  // One row more than the page has shows whether the list continues.
  const read = await sql<Columns & PositionColumns>`
    select ${shape.columns}, ${shape.sort} as page_sort, ${shape.id} as page_id
    from ${shape.from} where ${sql.join(where, sql` and `)}
    order by ${order} limit ${page.limit + 1}`.execute(db.query);
  const known = shape.total ?? countedUpTo(COUNTED_ROWS, shape.from, shape.where);
  const around = await sql<Surroundings>`
    select ${known.count} as total, ${rowBehind(shape, page)} as behind`.execute(db.query);
  const { total, behind } = around.rows[0] ?? { total: 0, behind: false };
  const rows = read.rows.slice(0, page.limit);
  return pageOf(page, {
    rows,
    first: positionOf(rows.at(0)),
    last: positionOf(rows.at(-1)),
    ahead: read.rows.length > page.limit,
    behind,
    ...totalOf(total, known),
  });
}

/** Rows in the order in which they were read: away from the position. */
export interface ReadRows<Row> {
  readonly rows: Row[];
  readonly first: RowPosition | null;
  readonly last: RowPosition | null;
  /** Whether there are more in the direction of reading. */
  readonly ahead: boolean;
  /** Whether there are any on the other side of the position. */
  readonly behind: boolean;
  readonly total: number;
  readonly totalIsExact: boolean;
}

export function pageOf<Row>({ direction }: PagePosition, read: ReadRows<Row>): PageRows<Row> {
  const backward = direction === "backward";
  const ahead: PagePosition | null = read.ahead ? { after: read.last, direction } : null;
  // Without rows on this side of the position, the rows behind it are read from their end.
  const behind: PagePosition | null = read.behind
    ? { after: read.first, direction: backward ? "forward" : "backward" }
    : null;
  return {
    rows: backward ? read.rows.toReversed() : read.rows,
    total: read.total,
    totalIsExact: read.totalIsExact,
    next: backward ? behind : ahead,
    previous: backward ? ahead : behind,
  };
}

/** The order of reading away from a position; `turned`: towards it. */
export function readingOrder(
  shape: Pick<ListShape, "sort" | "id" | "descending">,
  { direction }: PagePosition,
  turned = false,
): RawBuilder<unknown> {
  const falling = isFalling(shape, direction) !== turned;
  const order = falling ? sql`desc` : sql`asc`;
  return sql`${shape.sort} ${order}, ${shape.id} ${order}`;
}

function isFalling(shape: Pick<ListShape, "descending">, direction: PagePosition["direction"]): boolean {
  return shape.descending !== (direction === "backward");
}

/** The part of a shape that orders its rows. */
export type ListOrder = Pick<ListShape, "sort" | "sortType" | "id" | "idType" | "descending">;

/** The row comes after the position in the direction of reading. */
export function beyond(
  shape: ListOrder,
  { direction }: PagePosition,
  position: RowPosition,
): RawBuilder<unknown> {
  return compared(shape, isFalling(shape, direction) ? "<" : ">", position);
}

/** The row is at the position or before it in the direction of reading. */
export function notBeyond(
  shape: ListOrder,
  { direction }: PagePosition,
  position: RowPosition,
): RawBuilder<unknown> {
  return compared(shape, isFalling(shape, direction) ? ">=" : "<=", position);
}

function compared(shape: ListOrder, comparison: string, position: RowPosition): RawBuilder<unknown> {
  const sortValue = sql`${position.sortValue}::${sql.raw(shape.sortType)}`;
  const id = sql`${position.id}::${sql.raw(shape.idType)}`;
  return sql`(${shape.sort}, ${shape.id}) ${sql.raw(comparison)} (${sortValue}, ${id})`;
}

/** Searches from the position: the row that the cursor was made from is usually the first match. */
function rowBehind(shape: ListShape, page: PagePosition): RawBuilder<unknown> {
  if (page.after === null) return sql`false`;
  return sql`exists (select 1 from (
    select 1 from ${shape.from}
    where ${sql.join([...shape.where, notBeyond(shape, page, page.after)], sql` and `)}
    order by ${readingOrder(shape, page, true)} limit 1) as behind)`;
}

export function positionOf(row: PositionColumns | undefined): RowPosition | null {
  return row === undefined ? null : { sortValue: row.page_sort, id: String(row.page_id) };
}
