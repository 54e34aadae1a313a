/** Turns a paged query into rows, and rows into the page envelope with its links (D21, D22). */

import { AT_LEAST, DEFAULT_PAGE_SIZE, type Page } from "@parley/schema";
import type { PagePosition, PageQuery, PageRows } from "../../store/database/page.ts";
import type { CursorScope, CursorSigner } from "./cursor.ts";

/** What a paged query has besides its filters. */
export interface PagedQuery {
  readonly cursor?: string | undefined;
  readonly pageSize?: number | undefined;
}

export interface ListRequest {
  readonly accountId: string;
  /** Path of the request in its canonical form: ids in lower case, no trailing slash. */
  readonly path: string;
  /** Query of the request, unchanged, without the question mark. */
  readonly rawQuery: string;
  readonly query: PagedQuery;
  readonly publicUrl: string;
  readonly cursors: CursorSigner;
  /** Headers of the answer. */
  readonly headers: Map<string, string>;
}

/** Set, like `totalRelation` in the envelope, only where `total` is not the number of all matches but a lower bound. */
export const TOTAL_RELATION_HEADER = "total-relation";

const FIRST_PAGE: PagePosition = { after: null, direction: "forward" };

/** Reads the requested page, and links the pages beside it. */
export async function pageAnswer<Row>(
  request: ListRequest,
  read: (page: PageQuery) => Promise<PageRows<Row>>,
  toResource: (row: Row) => unknown,
): Promise<Page<unknown>> {
  const { cursor, pageSize, ...filters } = request.query;
  const scope: CursorScope = { path: request.path, accountId: request.accountId, filters };
  const position = cursor === undefined ? FIRST_PAGE : request.cursors.read(cursor, scope);
  const page = await read({ ...position, limit: pageSize ?? DEFAULT_PAGE_SIZE });
  if (!page.totalIsExact) request.headers.set(TOTAL_RELATION_HEADER, AT_LEAST);
  const link = (to: PagePosition | null): string | null => {
    if (to === null) return null;
    // Every other parameter stays as the client wrote it.
    const parameters = new URLSearchParams(request.rawQuery);
    parameters.set("cursor", request.cursors.write(to, scope));
    return `${request.publicUrl}${request.path}?${parameters.toString()}`;
  };
  return {
    results: page.rows.map(toResource),
    next: link(page.next),
    previous: link(page.previous),
    total: page.total,
    ...(page.totalIsExact ? {} : { totalRelation: AT_LEAST }),
  };
}

/** Pages of a list that is in memory and in its final order. Ids are unique. */
export function pageOfList<Row>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
  { after, direction, limit }: PageQuery,
): PageRows<Row> {
  const place = after === null ? -1 : rows.findIndex((row) => idOf(row) === after.id);
  // When a row is gone since, the row that follows takes its place.
  const at = place >= 0 ? place : Number(after?.sortValue ?? -1);
  const from = direction === "forward" ? at + 1 : Math.max(0, (after === null ? rows.length : at) - limit);
  const to = direction === "forward" ? from + limit : after === null ? rows.length : at;
  const shown = rows.slice(from, to);
  const positionOf = (index: number, way: PagePosition["direction"]): PagePosition | null => {
    const row = rows[index];
    return row === undefined ? null : { direction: way, after: { sortValue: index, id: idOf(row) } };
  };
  return {
    rows: shown,
    total: rows.length,
    totalIsExact: true,
    next: from + shown.length < rows.length ? positionOf(from + shown.length - 1, "forward") : null,
    previous: from > 0 ? positionOf(from, "backward") : null,
  };
}
