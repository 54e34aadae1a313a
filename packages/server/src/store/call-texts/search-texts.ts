/**
 * Keyset paging of calls by words that were said in them. The list is read span by span in the index of transcripts. A
 * page first reads the span at its position, which is enough for frequent words; then it counts the matches of more and
 * more spans at a time, and reads those that have any. So its work has a limit for words that occur in every call, in
 * none, and in those of a time long ago.
 */

import type { Db } from "../database/db.ts";
import {
  beyond,
  notBeyond,
  pageOf,
  positionOf,
  type PageQuery,
  type PageRows,
  type PositionColumns,
  type RowPosition,
} from "../database/page.ts";
import { countInSpans, readInSpans, textOrder, type TextShape, type TextSpan } from "./text-spans.ts";

export interface TextLimits {
  /** Matches that are counted. `total` is this number where there are more. */
  readonly countedMatches: number;
  /** Spans of one statement: about 100 ms if each has matches. */
  readonly spansAtOnce: number;
  /** Spans of one page where each match is looked up, because of another filter: about 30 ms for each. */
  readonly lookedUpSpans: number;
}

export const textLimits: TextLimits = { countedMatches: 1_000, spansAtOnce: 64, lookedUpSpans: 6 };

/** How many more spans each portion has than the one before it. */
const GROWTH = 4;

/** @param spans of the account, newest first */
export async function pageOfTexts(
  db: Db,
  shape: TextShape,
  spans: readonly TextSpan[],
  page: PageQuery,
  limits: TextLimits = textLimits,
): Promise<PageRows<PositionColumns>> {
  const counts = spanCounts(db, shape, limits);
  const read = await readAhead(db, shape, spans, page, counts, limits);
  const rows = read.rows.slice(0, page.limit);
  const isMore = read.rows.length > page.limit;
  const isWhole = page.after === null && read.boundary === null && !isMore;
  const total = isWhole
    ? { total: rows.length, totalIsExact: true }
    : await countAll(shape, spans, counts, limits);
  return pageOf(page, {
    rows,
    first: positionOf(rows.at(0)) ?? read.boundary,
    last: isMore ? positionOf(rows.at(-1)) : read.boundary,
    ahead: isMore || read.boundary !== null,
    behind: await isBehind(db, shape, spans, page),
    ...total,
  });
}

/** Reads numbers of matches once for each span. */
interface SpanCounts {
  of(spans: readonly TextSpan[]): Promise<readonly number[]>;
}

function spanCounts(db: Db, shape: TextShape, { countedMatches }: TextLimits): SpanCounts {
  const known = new Map<number, number>();
  return {
    async of(spans) {
      const unknown = spans.filter(({ id }) => !known.has(id));
      const counted = await countInSpans(db, shape, unknown, countedMatches + 1);
      for (const { id } of unknown) known.set(id, counted.get(id) ?? 0);
      return spans.map(({ id }) => known.get(id) ?? 0);
    },
  };
}

interface ReadAhead {
  /** At most one more than the page has. */
  readonly rows: PositionColumns[];
  /** Where the next page continues if this one ends early; null: this one is full, or reached the end of the list. */
  readonly boundary: RowPosition | null;
}

async function readAhead(
  db: Db,
  shape: TextShape,
  spans: readonly TextSpan[],
  page: PageQuery,
  counts: SpanCounts,
  limits: TextLimits,
): Promise<ReadAhead> {
  const falling = isFalling(shape, page);
  const { after } = page;
  const left = (falling ? spans : spans.toReversed()).filter((span) => reaches(span, after, falling));
  const most = shape.others.length === 0 ? left.length : Math.min(left.length, limits.lookedUpSpans);
  const wanted = page.limit + 1;
  const rows: PositionColumns[] = [];
  let at = 0;
  for (let size = 1; at < most && rows.length < wanted; size = nextSize(size, shape, limits)) {
    const portion = left.slice(at, Math.min(most, at + size));
    const need = wanted - rows.length;
    const withMatches = portion.length === 1 ? portion : await enoughOf(portion, counts, need);
    const conditions = after === null ? [] : [beyond(textOrder(shape), page, after)];
    rows.push(...(await readInSpans(db, shape, withMatches, { ...page, limit: need }, conditions)));
    at += portion.length;
  }
  const last = rows.length < wanted && at < left.length ? left[at - 1] : undefined;
  return { rows, boundary: last === undefined ? null : boundaryOf(last, falling) };
}

/** Each match of a span is looked up where there are other filters, so it is one span at a time. */
function nextSize(size: number, { others }: TextShape, { spansAtOnce }: TextLimits): number {
  return others.length > 0 ? 1 : Math.min(spansAtOnce, size * GROWTH);
}

/** The first spans that have `need` matches together, without those that have none. */
async function enoughOf(portion: readonly TextSpan[], counts: SpanCounts, need: number): Promise<TextSpan[]> {
  const numbers = await counts.of(portion);
  const chosen: TextSpan[] = [];
  let matches = 0;
  for (const [index, span] of portion.entries()) {
    const number = numbers[index] ?? 0;
    if (number === 0 || matches >= need) continue;
    chosen.push(span);
    matches += number;
  }
  return chosen;
}

async function countAll(
  shape: TextShape,
  spans: readonly TextSpan[],
  counts: SpanCounts,
  limits: TextLimits,
): Promise<Pick<PageRows<unknown>, "total" | "totalIsExact">> {
  const most = shape.others.length === 0 ? spans.length : Math.min(spans.length, limits.lookedUpSpans);
  let total = 0;
  let at = 0;
  for (let size = 1; at < most && total <= limits.countedMatches; size = nextSize(size, shape, limits)) {
    const portion = spans.slice(at, Math.min(most, at + size));
    for (const number of await counts.of(portion)) total += number;
    at += portion.length;
  }
  const isMore = total > limits.countedMatches;
  return {
    total: isMore ? limits.countedMatches : total,
    totalIsExact: !isMore && at === spans.length,
  };
}

/** Also true when the span of the position has no match behind it and there are others: that page may be empty. */
async function isBehind(
  db: Db,
  shape: TextShape,
  spans: readonly TextSpan[],
  page: PageQuery,
): Promise<boolean> {
  const { after } = page;
  if (after === null) return false;
  const turned = !isFalling(shape, page);
  const behind = (turned ? spans : spans.toReversed()).filter((span) => reaches(span, after, turned));
  const [nearest] = behind;
  if (nearest === undefined) return false;
  const conditions = [notBeyond(textOrder(shape), page, after)];
  const found = await readInSpans(db, shape, [nearest], { ...page, limit: 1 }, conditions);
  return found.length > 0 || behind.length > 1;
}

function isFalling({ descending }: TextShape, { direction }: PageQuery): boolean {
  return descending !== (direction === "backward");
}

/** Whether the span can have calls after the position. */
function reaches({ startsAt, endsAt }: TextSpan, after: RowPosition | null, falling: boolean): boolean {
  if (after === null) return true;
  return falling ? startsAt <= String(after.sortValue) : endsAt === null || endsAt > String(after.sortValue);
}

/** Before all calls of the next span in the direction of reading. */
function boundaryOf({ startsAt, endsAt }: TextSpan, falling: boolean): RowPosition {
  return { sortValue: falling ? startsAt : (endsAt ?? startsAt), id: "00000000-0000-0000-0000-000000000000" };
}
