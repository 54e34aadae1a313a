/** Loads the messages and events of a call. */

import type { Call } from "@parley/schema";
import { useEffect, useMemo, useRef } from "react";
import { type Pages, usePages } from "../../data/pages.ts";
import { type Line, linesOf } from "./lines.ts";

/** The largest page of the service. */
const PAGE_SIZE = 100;
/** An hour of fast talk; more is loaded on request. */
export const MAX_UNASKED_ROWS = 1_000;
const RUNNING_MS = 2_000;
/** The last messages and events are written within seconds of the end. */
const SETTLED_MS = 20_000;

export interface Conversation {
  /** Null before the first response. */
  readonly lines: readonly Line[] | null;
  readonly error: unknown;
  readonly retry: () => void;
  /** Loads more beyond the automatic limit; null: nothing is left, or it is loading. */
  readonly more: (() => void) | null;
}

/** Polling interval for data of a call; null: it does not change any more. */
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
  const uses = usePages(
    "/api/calls/{call_id}/events",
    { params, query: { pageSize: PAGE_SIZE, type: "engines.used", minimum_severity: "debug" } },
    { everyMs },
  );
  useReadOn(messages);
  useReadOn(events);
  useReadOn(uses);
  const { rows: said } = messages;
  const { rows: happened } = events;
  // The conversation does not wait for them.
  const { rows: used } = uses;
  const lines = useMemo(
    () => (said === null || happened === null ? null : linesOf(said, happened, used ?? [])),
    [said, happened, used],
  );
  return {
    lines,
    error: messages.error ?? events.error,
    retry: () => {
      messages.retry();
      events.retry();
    },
    more: moreOf(messages, events, uses),
  };
}

function useReadOn({ rows, more, loadingMore, error }: Pages<unknown>): void {
  const count = rows?.length ?? 0;
  const isDue = more !== null && !loadingMore && error === null && count < MAX_UNASKED_ROWS;
  const latest = useRef(more);
  latest.current = more;
  useEffect(() => {
    // One request per page.
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
