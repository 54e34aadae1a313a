/** Lists, page by page. */

import type { InputOf, PagedPath, RowOf } from "@parley/client/rest";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { type AnyFetch, useApi } from "./api.tsx";
import { cursorOf, type OnePage, readPage } from "./page-reading.ts";

export interface Pages<Row> {
  /** All rows so far; null before the first answer. */
  readonly rows: readonly Row[] | null;
  readonly total: number | null;
  readonly error: unknown;
  readonly retry: () => void;
  /** Reads on; null at the end of the list. */
  readonly more: (() => void) | null;
  readonly loadingMore: boolean;
}

export function usePages<P extends PagedPath>(path: P, input: InputOf<"GET", P>): Pages<RowOf<P>> {
  const api = useApi();
  const list = useInfiniteQuery({
    queryKey: [path, "pages", input],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => {
      const { query, ...rest } = input as { readonly query?: object };
      const ask = async (cursor: string | null) => {
        const asked = { ...query, ...(cursor === null ? {} : { cursor }) };
        return (await (api.fetch as AnyFetch)("GET", path, { ...rest, query: asked, signal })) as OnePage;
      };
      return readPage(ask, pageParam);
    },
    getNextPageParam: (page) => cursorOf(page.next),
    // While other words are searched for, the rows before stay.
    placeholderData: keepPreviousData,
  });
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = list;
  return {
    rows: data === undefined ? null : (data.pages.flatMap(({ results }) => results) as RowOf<P>[]),
    total: data?.pages.at(-1)?.total ?? null,
    error,
    retry: () => void refetch(),
    more: hasNextPage ? () => void fetchNextPage() : null,
    loadingMore: isFetchingNextPage,
  };
}
