/** Keyset paging on (sort value, id): what is inserted or deleted meanwhile never moves another row between pages. */

import { sql, type RawBuilder } from "kysely";
import type { Db } from "./db.ts";

/** Place of a row in its list. Timestamps are ISO strings (`infinity` for none), durations and ordinals numbers. */
export interface RowPosition {
  readonly sortValue: string | number;
  readonly id: string;
}

/**
 * Where a page begins. `forward`: the rows after `after`, or the first page. `backward`: the rows before `after`, or
 * the last page. Rows are in list order either way.
 */
export interface PagePosition {
  readonly after: RowPosition | null;
  readonly direction: "forward" | "backward";
}

export interface PageQuery extends PagePosition {
  /** Rows of a page, 1 and more. */
  readonly limit: number;
}

export interface PageRows<Row> {
  readonly rows: Row[];
  /** All rows of the list at the time of reading. */
  readonly total: number;
  /** Position of the following page, null at the end. */
  readonly next: PagePosition | null;
  /** Position of the page before, null at the beginning. */
  readonly previous: PagePosition | null;
}

/** How a list is cut into pages. The sort expression is never null, so that row comparison is total. */
export interface ListShape {
  readonly columns: RawBuilder<unknown>;
  /** Tables with their joins. */
  readonly from: RawBuilder<unknown>;
  /** Conditions, all of which hold; the account is always among them. */
  readonly where: readonly RawBuilder<unknown>[];
  readonly sort: RawBuilder<unknown>;
  readonly sortType: "timestamptz" | "bigint" | "text";
  readonly id: RawBuilder<unknown>;
  readonly idType: "uuid" | "text" | "bigint";
  readonly descending: boolean;
}

interface PositionColumns {
  readonly page_sort: string | number;
  readonly page_id: string | number;
}

/** One page and the number of all rows: two statements. */
export async function readPage<Columns extends object>(
  db: Db,
  shape: ListShape,
  page: PageQuery,
): Promise<PageRows<Columns>> {
  const backward = page.direction === "backward";
  // Read away from the position, then turn round what was read backwards.
  const falling = shape.descending !== backward;
  const order = falling ? sql`desc` : sql`asc`;
  const where =
    page.after === null ? shape.where : [...shape.where, beyond(shape, page.after, falling ? "<" : ">")];
  const read = await sql<Columns & PositionColumns>`
    select ${shape.columns}, ${shape.sort} as page_sort, ${shape.id} as page_id
    from ${shape.from} where ${sql.join(where, sql` and `)}
    order by ${shape.sort} ${order}, ${shape.id} ${order} limit ${page.limit}`.execute(db.query);
  const rows = backward ? read.rows.toReversed() : read.rows;
  const first = positionOf(rows.at(0));
  const last = positionOf(rows.at(-1));
  const counts = await countAround(db, shape, first, last);
  if (first === null) {
    // Everything on this side of the position is gone: what is left lies on the other side.
    const rest: PagePosition | null =
      page.after !== null && counts.total > 0
        ? { after: null, direction: backward ? "forward" : "backward" }
        : null;
    return { rows: [], total: counts.total, next: backward ? rest : null, previous: backward ? null : rest };
  }
  return {
    rows,
    total: counts.total,
    next: counts.following > 0 ? { after: last, direction: "forward" } : null,
    previous: counts.preceding > 0 ? { after: first, direction: "backward" } : null,
  };
}

interface Counts {
  readonly total: number;
  readonly preceding: number;
  readonly following: number;
}

async function countAround(
  db: Db,
  shape: ListShape,
  first: RowPosition | null,
  last: RowPosition | null,
): Promise<Counts> {
  const earlier = first === null ? sql`false` : beyond(shape, first, shape.descending ? ">" : "<");
  const later = last === null ? sql`false` : beyond(shape, last, shape.descending ? "<" : ">");
  const counted = await sql<Counts>`
    select count(*) as total, count(*) filter (where ${earlier}) as preceding,
      count(*) filter (where ${later}) as following
    from ${shape.from} where ${sql.join(shape.where, sql` and `)}`.execute(db.query);
  return counted.rows[0] ?? { total: 0, preceding: 0, following: 0 };
}

function beyond(shape: ListShape, position: RowPosition, comparison: "<" | ">"): RawBuilder<unknown> {
  const sortValue = sql`${position.sortValue}::${sql.raw(shape.sortType)}`;
  const id = sql`${position.id}::${sql.raw(shape.idType)}`;
  return sql`(${shape.sort}, ${shape.id}) ${sql.raw(comparison)} (${sortValue}, ${id})`;
}

function positionOf(row: PositionColumns | undefined): RowPosition | null {
  return row === undefined ? null : { sortValue: row.page_sort, id: String(row.page_id) };
}
