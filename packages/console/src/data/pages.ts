/** Lists, page by page. */

import type { InputOf, PagedPath, RowOf } from "@parley/client/rest";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type AnyFetch, useApi } from "./api.tsx";
import { cursorOf, type OnePage, readPage } from "./page-reading.ts";

export interface Pages<Row> {
  /** All rows so far; null before the first answer. */
  readonly rows: readonly Row[] | null;
  readonly total: number | null;
  /** `total` is where the service stopped counting. */
  readonly atLeast: boolean;
  readonly error: unknown;
  readonly retry: () => void;
  /** Reads on; null at the end of the list. */
  readonly more: (() => void) | null;
  readonly loadingMore: boolean;
}

export interface PagesOptions<Row> {
  /** Read again so often while the list is looked at; null: not. Lists of many pages are read less often. */
  readonly everyMs?: (rows: readonly Row[]) => number | null;
}

/** Says that `total` is no more than a lower bound. */
const TOTAL_RELATION = "total-relation";

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
        const asked = { ...query, ...(cursor === null ? {} : { cursor }) };
        let atLeast = false;
        const onHeaders = (headers: Headers) => {
          atLeast = headers.get(TOTAL_RELATION) === "at-least";
        };
        const page = await (api.fetch as AnyFetch)("GET", path, { ...rest, query: asked, signal, onHeaders });
        return { ...(page as OnePage), atLeast };
      };
      return readPage(ask, pageParam);
    },
    getNextPageParam: (page) => cursorOf(page.next),
    // While other words are searched for, the rows before stay.
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      const wanted = everyMs?.(rowsOf<RowOf<P>>(pages)) ?? null;
      return wanted === null ? false : wanted * Math.max(pages.length, 1);
    },
  });
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = list;
  // The same list as long as nothing in it has changed.
  const rows = useMemo(() => (data === undefined ? null : rowsOf<RowOf<P>>(data.pages)), [data]);
  return {
    rows,
    total: data?.pages.at(-1)?.total ?? null,
    atLeast: data?.pages.at(-1)?.atLeast ?? false,
    error,
    retry: () => void refetch(),
    more: hasNextPage ? () => void fetchNextPage() : null,
    loadingMore: isFetchingNextPage,
  };
}

function rowsOf<Row>(pages: readonly OnePage[]): Row[] {
  return pages.flatMap(({ results }) => results) as Row[];
}
