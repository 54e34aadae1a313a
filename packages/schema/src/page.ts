/** Lists that are read page by page. */

import { z } from "zod";

export const DEFAULT_PAGE_SIZE = 20;
/** Larger requests get this many; bounds the work of one answer. */
export const MAX_PAGE_SIZE = 100;

/** One page of a list. `next` and `previous` are absolute URLs; `total` counts the matches. */
export interface Page<T> {
  readonly results: readonly T[];
  readonly next: string | null;
  readonly previous: string | null;
  readonly total: number;
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
        "All matches. Where it would take too long to count them, there are at least so many, and the answer has the header `Total-Relation: at-least`.",
      ),
  });
}

/** Query fields that every paged list takes. `pageSize` parses to at most `MAX_PAGE_SIZE`. */
export const pageQuery = {
  cursor: z.string().min(1).optional().describe("Opaque; taken from `next` or `previous` of another page."),
  pageSize: z
    .int()
    .min(1)
    .overwrite((size) => Math.min(size, MAX_PAGE_SIZE))
    .meta({
      default: DEFAULT_PAGE_SIZE,
      description: `More than ${MAX_PAGE_SIZE} counts as ${MAX_PAGE_SIZE}.`,
    })
    .optional(),
};
