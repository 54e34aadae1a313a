/**
 * Keyset paging of calls by conditions that the index of the list's order does not serve. There are three strategies,
 * because none is fast for all: frequent matches are found by a scan of the list from the page's position; rare ones by
 * other indexes, and then sorted; and what no index serves by a bounded scan, whose pages may be short.
 */

import { sql, type RawBuilder } from "kysely";
import type { Db } from "../database/db.ts";
import {
  beyond,
  notBeyond,
  pageOf,
  positionOf,
  readPage,
  readingOrder,
  type ListOrder,
  type PagePosition,
  type PageQuery,
  type PageRows,
  type PositionColumns,
  type RowPosition,
} from "../database/page.ts";

/** Conditions are on the table `calls`. */
export interface MatchShape extends ListOrder {
  /** Conditions that the index of the order serves, among them always the account. */
  readonly along: readonly RawBuilder<unknown>[];
  /** All other conditions. */
  readonly others: readonly RawBuilder<unknown>[];
  /**
   * The other conditions in the form that indexes serve: every match meets all conditions of at least one list. Null:
   * no index serves them; the list is scanned, and a page ends at the limit of the scan.
   */
  readonly indexed: readonly (readonly RawBuilder<unknown>[])[] | null;
  readonly limits: MatchLimits;
}

export interface MatchLimits {
  /** Rows of the first scan: about 5 ms. If one row in twenty matches, a page of 100 is full. */
  readonly windowRows: number;
  /** Rows scanned at a time for a page without an index: about 25 ms. */
  readonly unindexedWindowRows: number;
  /** Such scans until the page is full. A page that is not full by then ends where the last scan ended. */
  readonly unindexedWindows: number;
  /** Matches that are counted and sorted: about 50 ms. `total` is this number where there are more. */
  readonly countedMatches: number;
  /** Rows scanned for a count: enough for `countedMatches` if `FREQUENT_SHARE` of them match. */
  readonly countingRows: number;
}

export const matchLimits: MatchLimits = {
  windowRows: 2_000,
  unindexedWindowRows: 10_000,
  unindexedWindows: 10,
  countedMatches: 10_000,
  countingRows: 40_000,
};

/** From this share of matches on, a scan of the list counts them faster than any index. */
const FREQUENT_SHARE = 1 / 4;

type MatchPage = PageRows<PositionColumns>;

export async function readMatches(db: Db, shape: MatchShape, page: PageQuery): Promise<MatchPage> {
  const { unindexedWindowRows, countedMatches } = shape.limits;
  const windowRows = shape.indexed === null ? unindexedWindowRows : shape.limits.windowRows;
  const { toTheEnd, ...looked } = await scanWindows(db, shape, page, windowRows);
  if (page.after === null && toTheEnd) {
    return scannedPage(page, looked, { total: looked.matched, totalIsExact: true, behind: false });
  }
  const { matched, isWhole, isFrequent } = await countMatches(db, shape, looked, windowRows);
  if (shape.indexed !== null && !isFrequent) {
    const found = await findByIndexes(db, shape, shape.indexed, page);
    if (found.total <= countedMatches) return pageOf(page, { ...found, totalIsExact: true });
  }
  const counted = { total: matched ?? countedMatches, totalIsExact: isWhole };
  if (toTheEnd || looked.matched > page.limit) {
    return scannedPage(page, looked, { ...counted, behind: await isMatchBehind(db, shape, page) });
  }
  if (shape.indexed === null) {
    // The next page continues after the last scanned row, whether or not it matched.
    const behind = await isMatchBehind(db, shape, page);
    return pageOf(page, { ...looked, ahead: true, behind, ...counted });
  }
  const where = [...shape.along, ...shape.others];
  const total = { count: sql`${counted.total}::int`, limit: null };
  const whole = { ...shape, columns: sql`1`, from: sql`calls`, where, total };
  return { ...(await readPage<PositionColumns>(db, whole, page)), ...counted };
}

interface ScannedWindow {
  /** Rows of the window. */
  readonly seen: number;
  /** Rows that match. */
  readonly matched: number;
  /** The first matches, one more than the page has. */
  readonly rows: PositionColumns[];
  readonly first: RowPosition | null;
  readonly last: RowPosition | null;
}

interface WindowColumns extends PositionColumns {
  readonly is_shown: boolean;
  readonly seen: number;
  readonly matched: number;
}

/** One window where indexes find what it does not; otherwise as many as fill the page, up to their limit. */
async function scanWindows(
  db: Db,
  shape: MatchShape,
  page: PageQuery,
  windowRows: number,
): Promise<ScannedWindow & { readonly toTheEnd: boolean }> {
  let looked = await scanWindow(db, shape, page, windowRows);
  let toTheEnd = looked.seen < windowRows;
  const windows = shape.indexed === null ? shape.limits.unindexedWindows : 1;
  for (let scanned = 1; scanned < windows && !toTheEnd && looked.matched <= page.limit; scanned += 1) {
    const next = await scanWindow(db, shape, { ...page, after: looked.last }, windowRows);
    toTheEnd = next.seen < windowRows;
    looked = {
      seen: looked.seen + next.seen,
      matched: looked.matched + next.matched,
      rows: [...looked.rows, ...next.rows].slice(0, page.limit + 1),
      first: looked.first,
      last: next.last ?? looked.last,
    };
  }
  return { ...looked, toTheEnd };
}

async function scanWindow(
  db: Db,
  shape: MatchShape,
  page: PageQuery,
  windowRows: number,
): Promise<ScannedWindow> {
  const listed: ListOrder = { ...shape, sort: sql`page_sort`, id: sql`page_id` };
  const order = readingOrder(listed, page);
  const read = await sql<WindowColumns>`
    select page_sort, page_id, matches and match_number <= ${page.limit + 1} as is_shown, seen, matched
    from (
      select page_sort, page_id, matches, row_number() over (order by ${order}) as place, count(*) over () as seen,
        count(*) filter (where matches) over (order by ${order}) as match_number,
        count(*) filter (where matches) over () as matched
      from ${scannedRows(shape, page, windowRows)}
    ) as numbered
    where (matches and match_number <= ${page.limit + 1}) or place in (1, seen)
    order by place`.execute(db.query);
  const [first] = read.rows;
  return {
    seen: first?.seen ?? 0,
    matched: first?.matched ?? 0,
    rows: read.rows.filter((row) => row.is_shown),
    first: positionOf(first),
    last: positionOf(read.rows.at(-1)),
  };
}

/** The next rows of the list, as a table with a column `matches`; `turned`: the rows behind the position. */
function scannedRows(
  shape: MatchShape,
  page: PagePosition,
  limit: number,
  turned = false,
): RawBuilder<unknown> {
  const { after } = page;
  const from = after === null ? [] : [turned ? notBeyond(shape, page, after) : beyond(shape, page, after)];
  return sql`(
    select ${shape.sort} as page_sort, ${shape.id} as page_id,
      coalesce(${sql.join(shape.others, sql` and `)}, false) as matches
    from calls where ${sql.join([...shape.along, ...from], sql` and `)}
    order by ${readingOrder(shape, page, turned)} limit ${limit}) as looked_at`;
}

function scannedPage(
  page: PageQuery,
  looked: ScannedWindow,
  around: Pick<MatchPage, "total" | "totalIsExact"> & { readonly behind: boolean },
): MatchPage {
  const rows = looked.rows.slice(0, page.limit);
  const ends = { first: positionOf(rows.at(0)), last: positionOf(rows.at(-1)) };
  return pageOf(page, { rows, ...ends, ahead: looked.rows.length > page.limit, ...around });
}

interface Counted {
  /** Null: the scan does not provide it. */
  readonly matched: number | null;
  /** `matched` counts all matches. */
  readonly isWhole: boolean;
  readonly isFrequent: boolean;
}

async function countMatches(
  db: Db,
  shape: MatchShape,
  looked: ScannedWindow,
  windowRows: number,
): Promise<Counted> {
  const isFrequent = looked.seen === windowRows && looked.matched >= looked.seen * FREQUENT_SHARE;
  if (shape.indexed !== null && !isFrequent) return { matched: null, isWhole: false, isFrequent };
  const { countingRows, countedMatches } = shape.limits;
  const start: PagePosition = { after: null, direction: "forward" };
  const counted = await sql<{ matched: number; listed: number }>`
    select (
      select count(*) from (
        select 1 from ${scannedRows(shape, start, countingRows)} where matches limit ${countedMatches + 1}) as counted
    ) as matched, (
      select count(*) from (
        select 1 from calls where ${sql.join(shape.along, sql` and `)} limit ${countingRows + 1}) as listed
    ) as listed`.execute(db.query);
  const { matched = 0, listed = 0 } = counted.rows[0] ?? {};
  const isMore = matched > countedMatches;
  return {
    matched: isMore ? countedMatches : matched,
    isWhole: !isMore && listed <= countingRows,
    isFrequent: isFrequent && matched >= countedMatches,
  };
}

interface Found {
  readonly rows: PositionColumns[];
  readonly first: RowPosition | null;
  readonly last: RowPosition | null;
  readonly ahead: boolean;
  readonly behind: boolean;
  readonly total: number;
}

interface FoundColumns {
  readonly page_sort: PositionColumns["page_sort"] | null;
  readonly page_id: PositionColumns["page_id"];
  readonly total: number;
  readonly behind: boolean;
}

/** The page is correct only if there are at most `countedMatches`. */
async function findByIndexes(
  db: Db,
  shape: MatchShape,
  ways: readonly (readonly RawBuilder<unknown>[])[],
  page: PageQuery,
): Promise<Found> {
  const { after, limit } = page;
  const matches = ways.map(
    (conditions) => sql`(
      select ${shape.sort} as page_sort, ${shape.id} as page_id from calls
      where ${sql.join([...shape.along, ...conditions], sql` and `)} limit ${shape.limits.countedMatches + 1})`,
  );
  const found: ListOrder = { ...shape, sort: sql`page_sort`, id: sql`page_id` };
  const ahead = after === null ? sql`true` : beyond(found, page, after);
  const behind = after === null ? sql`false` : notBeyond(found, page, after);
  const read = await sql<FoundColumns>`
    with found as materialized (${sql.join(matches, sql` union `)})
    select around.total, around.behind, page_sort, page_id
    from (
      select count(*) as total, exists (select 1 from found where ${behind}) as behind from found
    ) as around left join (
      select page_sort, page_id from found where ${ahead} order by ${readingOrder(found, page)} limit ${limit + 1}
    ) as shown on true
    order by ${readingOrder(found, page)}`.execute(db.query);
  const keys = read.rows.flatMap((row) =>
    row.page_sort === null ? [] : [{ page_sort: row.page_sort, page_id: row.page_id }],
  );
  const rows = keys.slice(0, limit);
  const { total = 0, behind: isBehind = false } = read.rows[0] ?? {};
  const ends = { first: positionOf(rows.at(0)), last: positionOf(rows.at(-1)) };
  return { rows, ...ends, ahead: keys.length > limit, behind: isBehind, total };
}

/** Also true when the nearest rows behind do not match and there are more: the previous page may then be empty. */
async function isMatchBehind(db: Db, shape: MatchShape, page: PagePosition): Promise<boolean> {
  if (page.after === null) return false;
  const { windowRows } = shape.limits;
  const near = scannedRows(shape, page, windowRows, true);
  const read = await sql<{ behind: boolean }>`
    select exists (select 1 from ${near} where matches)
      or (select count(*) from ${scannedRows({ ...shape, others: [sql`true`] }, page, windowRows, true)})
        = ${windowRows} as behind`.execute(db.query);
  return read.rows[0]?.behind ?? false;
}
