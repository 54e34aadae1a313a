/** Paging through a list. */

/** An empty page can have a next page; one press of the button reads at most this many. */
const MAX_EMPTY_PAGES = 20;

export interface OnePage {
  readonly results: readonly unknown[];
  readonly next: string | null;
  readonly total: number;
  /** Set: `total` is a lower bound, because the service stopped counting. */
  readonly totalRelation?: "at-least";
}

/** `next` is an absolute URL. Only its cursor is used, because the service may be reached under another name. */
export function cursorOf(next: string | null): string | null {
  return next === null ? null : new URL(next, "http://any").searchParams.get("cursor");
}

/** Reads one page, and the following pages while they are empty. */
export async function readPage(
  ask: (cursor: string | null) => Promise<OnePage>,
  cursor: string | null,
): Promise<OnePage> {
  let page = await ask(cursor);
  for (let empty = 0; page.results.length === 0 && empty < MAX_EMPTY_PAGES; empty += 1) {
    const next = cursorOf(page.next);
    if (next === null) break;
    page = await ask(next);
  }
  return page;
}
