/** Events of a call that users and operators can list. */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { selectList, type Selected } from "../database/select-list.ts";

export type Severity = "debug" | "info" | "warning" | "error";

export interface NewCallEvent {
  readonly stageId: string;
  /** Media clock since the join; 0 before it. Rounded to whole ms. */
  readonly callTimestampMs: number;
  /** Null before the join. */
  readonly wallClockTimestampMs: number | null;
  readonly severity: Severity;
  /** Dotted name, at most 50 characters. */
  readonly type: string;
  readonly text: string;
  readonly extras: object | null;
}

export interface CallEventRow extends NewCallEvent {
  readonly callId: string;
  readonly extras: Record<string, unknown> | null;
}

const eventColumns = selectList("call_events", {
  callId: "call_id",
  stageId: "stage_id",
  callTimestampMs: "call_timestamp_ms",
  wallClockTimestampMs: "wall_clock_timestamp_ms",
  severity: "severity",
  type: "type",
  text: "text",
  extras: "extras",
});

type CallEventColumns = Selected<typeof eventColumns>;

/** Stored as an index of this list, so that "at least this severe" is one comparison. */
const severities: readonly Severity[] = ["debug", "info", "warning", "error"];

/**
 * Writes an event once for each `key`, a UUID that the caller has made: it may be written again when an answer was lost.
 * False: the account has no such call, or it has the event already.
 */
export async function appendCallEvent(
  db: Db,
  accountId: string,
  callId: string,
  event: NewCallEvent,
  key: string = randomUUID(),
): Promise<boolean> {
  return insertEvent(db, { accountId, callId, stageId: event.stageId }, event, key);
}

/** The same of an event of the first stage, for those who do not know its id. */
export async function appendFirstStageEvent(
  db: Db,
  accountId: string,
  callId: string,
  event: Omit<NewCallEvent, "stageId">,
  key: string,
): Promise<boolean> {
  return insertEvent(db, { accountId, callId, stageId: null }, event, key);
}

interface EventPlace {
  readonly accountId: string;
  readonly callId: string;
  /** Null: the first one. */
  readonly stageId: string | null;
}

/**
 * A call has one event of its end: a process that was thought lost writes its own one after another process has ended the
 * call. So the key of that event is the call.
 */
async function insertEvent(
  db: Db,
  { accountId, callId, stageId }: EventPlace,
  event: Omit<NewCallEvent, "stageId">,
  key: string,
): Promise<boolean> {
  const wallClockMs = event.wallClockTimestampMs;
  const firstStage = sql`(select stages.id from call_stages as stages where stages.call_id = calls.id
    order by stages.position limit 1)`;
  const insertion = sql`
    insert into call_events (call_id, account_id, stage_id, call_timestamp_ms, wall_clock_timestamp_ms, severity,
      type, text, extras, created_at, event_key)
    select id, account_id, coalesce(${stageId}::uuid, ${firstStage}), ${Math.round(event.callTimestampMs)}::int,
      ${wallClockMs === null ? null : Math.round(wallClockMs)}::int,
      ${severities.indexOf(event.severity)}::smallint, ${event.type}, ${toStorableText(event.text)},
      ${event.extras === null ? null : toJsonText(event.extras)}::json, clock_timestamp(),
      ${event.type === "call.ended" ? callId : key}::uuid
    from calls where id = ${callId} and account_id = ${accountId}
    on conflict (call_id, event_key) where event_key is not null do nothing returning call_id`;
  const written = await (
    isFault(event)
      ? sql`${preparedStatement}
        with written as (${insertion}), marked as (
          update calls set has_errors = true from written where calls.id = written.call_id and not calls.has_errors
        )
        select call_id from written`
      : sql`${preparedStatement} ${insertion}`
  ).execute(db.query);
  return written.rows.length === 1;
}

/** Events that give a call the mark `has_errors`: of severity error, or of a failed engine. */
function isFault({ severity, type }: Pick<NewCallEvent, "severity" | "type">): boolean {
  return severity === "error" || FAILED_ENGINES.has(type);
}

const FAILED_ENGINES: ReadonlySet<string> = new Set(["stt.failed", "llm.failed", "tts.failed"]);

export interface CallEventFilter {
  readonly minimumSeverity: Severity;
  /** Exact type, or null for all. */
  readonly type: string | null;
}

/** Oldest first. A call of another account has no rows. */
export async function listCallEvents(
  db: Db,
  accountId: string,
  callId: string,
  filter: CallEventFilter,
  page: PageQuery,
): Promise<PageRows<CallEventRow>> {
  const read = await readPage<CallEventColumns>(
    db,
    {
      columns: eventColumns,
      from: sql`call_events`,
      where: [
        sql`call_id = ${callId}`,
        sql`account_id = ${accountId}`,
        sql`severity >= ${severities.indexOf(filter.minimumSeverity)}::smallint`,
        ...(filter.type === null ? [] : [sql`type = ${toStorableText(filter.type)}`]),
      ],
      sort: sql`id`,
      sortType: "bigint",
      id: sql`id`,
      idType: "bigint",
      descending: false,
    },
    page,
  );
  return { ...read, rows: read.rows.map(toCallEventRow) };
}

function toCallEventRow(columns: CallEventColumns): CallEventRow {
  return {
    callId: columns.callId,
    stageId: columns.stageId,
    callTimestampMs: columns.callTimestampMs,
    wallClockTimestampMs: columns.wallClockTimestampMs,
    severity: severities[columns.severity] ?? "error",
    type: columns.type,
    text: columns.text,
    extras: columns.extras,
  };
}
