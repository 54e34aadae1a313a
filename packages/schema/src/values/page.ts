/** Paged lists. */

import { z } from "zod";

export const DEFAULT_PAGE_SIZE = 20;
/** Larger page sizes are reduced to this; limits the work per response. */
export const MAX_PAGE_SIZE = 100;

/** Value of `totalRelation`, and of the header `Total-Relation`: there may be more matches than `total`. */
export const AT_LEAST = "at-least";

/** One page of a list. `next` and `previous` are absolute URLs; `total` counts the matches. */
export interface Page<T> {
  readonly results: readonly T[];
  readonly next: string | null;
  readonly previous: string | null;
  readonly total: number;
  readonly totalRelation?: typeof AT_LEAST;
}

/** The page envelope around a resource. */
export function pageOf<S extends z.ZodType>(resource: S) {
  return z.strictObject({
    results: z.array(resource),
    next: z.string().nullable(),
    previous: z.string().nullable(),
    total: z
      .int()
      .min(0)
      .describe(
        "Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then `at-least`.",
      ),
    totalRelation: z
      .literal(AT_LEAST)
      .optional()
      .describe(
        "`at-least` if there may be more matches than `total`; absent if `total` is exact. The header `Total-Relation` has the same value.",
      ),
  });
}

/** Query fields of every paged list. `pageSize` parses to at most `MAX_PAGE_SIZE`. */
export const pageQuery = {
  cursor: z.string().min(1).optional().describe("Opaque; part of `next` and `previous` of another page."),
  pageSize: z
    .int()
    .min(1)
    .overwrite((size) => Math.min(size, MAX_PAGE_SIZE))
    .meta({
      default: DEFAULT_PAGE_SIZE,
      description: `Values above ${MAX_PAGE_SIZE} count as ${MAX_PAGE_SIZE}.`,
    })
    .optional(),
};
