/** Paged lists. */

import type { InputOf, PagedPath, RowOf } from "@parley/client/rest";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type AnyFetch, useApi } from "./api.tsx";
import { cursorOf, type OnePage, readPage } from "./page-reading.ts";

export interface Pages<Row> {
  /** All rows so far; null before the first response. */
  readonly rows: readonly Row[] | null;
  readonly total: number | null;
  /** `total` is a lower bound: the service stopped counting. */
  readonly atLeast: boolean;
  readonly error: unknown;
  readonly retry: () => void;
  /** Loads the next page; null at the end of the list. */
  readonly more: (() => void) | null;
  readonly loadingMore: boolean;
}

export interface PagesOptions<Row> {
  /** Poll at this interval while the list is visible; null: no polling. Lists of many pages are polled less often. */
  readonly everyMs?: (rows: readonly Row[]) => number | null;
}

export function usePages<P extends PagedPath>(
  path: P,
  input: InputOf<"GET", P>,
  { everyMs }: PagesOptions<RowOf<P>> = {},
): Pages<RowOf<P>> {
  const api = useApi();
  const list = useInfiniteQuery({
    queryKey: [path, "pages", input],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => {
      const { query, ...rest } = input as { readonly query?: object };
      const ask = async (cursor: string | null) => {
        const requested = { ...query, ...(cursor === null ? {} : { cursor }) };
        const page = await (api.fetch as AnyFetch)("GET", path, { ...rest, query: requested, signal });
        return page as OnePage;
      };
      return readPage(ask, pageParam);
    },
    getNextPageParam: (page) => cursorOf(page.next),
    // During a new search the previous rows stay visible.
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      const wanted = everyMs?.(rowsOf<RowOf<P>>(pages)) ?? null;
      return wanted === null ? false : wanted * Math.max(pages.length, 1);
    },
  });
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = list;
  // The same array until something in it changes.
  const rows = useMemo(() => (data === undefined ? null : rowsOf<RowOf<P>>(data.pages)), [data]);
  return {
    rows,
    total: data?.pages.at(-1)?.total ?? null,
    atLeast: data?.pages.at(-1)?.totalRelation === "at-least",
    error,
    retry: () => void refetch(),
    more: hasNextPage ? () => void fetchNextPage() : null,
    loadingMore: isFetchingNextPage,
  };
}

function rowsOf<Row>(pages: readonly OnePage[]): Row[] {
  return pages.flatMap(({ results }) => results) as Row[];
}
