/** Everything that was said and that happened, as far as it is shown at once. */

import type { Call } from "@parley/schema";
import { useEffect, useMemo, useRef } from "react";
import { type Pages, usePages } from "../../data/pages.ts";
import { type Line, linesOf } from "./lines.ts";

/** As many as the service gives at once. */
const PAGE_SIZE = 100;
/** An hour of quick talk; more is read when somebody asks for it. */
export const MAX_UNASKED_ROWS = 1_000;
const RUNNING_MS = 2_000;
/** What belongs to the end is written within seconds of it. */
const SETTLED_MS = 20_000;

export interface Conversation {
  /** Null before the first answer. */
  readonly lines: readonly Line[] | null;
  readonly error: unknown;
  readonly retry: () => void;
  /** Reads on where there is more than is read unasked; null: nothing is left, or it is on its way. */
  readonly more: (() => void) | null;
}

/** How often what belongs to a call is to be read again; null: it will not change any more. */
export function freshnessOf({ ended }: Pick<Call, "ended">): number | null {
  const isSettled = ended !== null && Date.now() - Date.parse(ended) > SETTLED_MS;
  return isSettled ? null : RUNNING_MS;
}

export function useConversation(call: Call): Conversation {
  const params = { call_id: call.callId };
  const everyMs = () => freshnessOf(call);
  const messages = usePages(
    "/api/calls/{call_id}/messages",
    { params, query: { mode: "in_call", pageSize: PAGE_SIZE } },
    { everyMs },
  );
  const events = usePages(
    "/api/calls/{call_id}/events",
    { params, query: { pageSize: PAGE_SIZE } },
    { everyMs },
  );
  useReadOn(messages);
  useReadOn(events);
  const { rows: said } = messages;
  const { rows: happened } = events;
  const lines = useMemo(
    () => (said === null || happened === null ? null : linesOf(said, happened)),
    [said, happened],
  );
  return {
    lines,
    error: messages.error ?? events.error,
    retry: () => {
      messages.retry();
      events.retry();
    },
    more: moreOf(messages, events),
  };
}

function useReadOn({ rows, more, loadingMore, error }: Pages<unknown>): void {
  const count = rows?.length ?? 0;
  const isDue = more !== null && !loadingMore && error === null && count < MAX_UNASKED_ROWS;
  const latest = useRef(more);
  latest.current = more;
  useEffect(() => {
    // Once for each page.
    if (isDue) latest.current?.();
  }, [isDue, count]);
}

function moreOf(...lists: readonly Pages<unknown>[]): (() => void) | null {
  const left = lists.flatMap(({ more, loadingMore, rows }) =>
    more !== null && !loadingMore && (rows?.length ?? 0) >= MAX_UNASKED_ROWS ? [more] : [],
  );
  if (left.length === 0) return null;
  return () => {
    for (const read of left) read();
  };
}
