/** Deletion of calls, and the records that remain of deleted calls. */

import type { EndReason } from "@parley/schema";
import { sql, type RawBuilder } from "kysely";
import { callConditions, type CallFilter } from "./call-filter.ts";
import { CALL_TRACES } from "./call-traces.ts";
import { databaseTime, laterBy, type SqlTime } from "../database/database-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { selectList, type Selected } from "../database/select-list.ts";

/** `too_early`: it is running, or not billed yet. */
export type Deletion = "deleted" | "too_early" | "not_found";

/**
 * Deletes a call with everything that belongs to it, in one transaction. The same transaction queues its files for
 * removal, so that a crash loses none; see `files-to-remove.ts`. Usage figures stay.
 */
export async function deleteCall(db: Db, accountId: string, callId: string): Promise<Deletion> {
  return eraseCall(db, accountId, callId, sql`true`);
}

/** When a call that was deleted had been created (ISO 8601); null: there is no record of such a call. */
export async function createdAtOfDeleted(db: Db, accountId: string, callId: string): Promise<string | null> {
  const read = await sql<{ readonly createdAt: string }>`
    select created_at as "createdAt" from deleted_calls
    where id = ${callId} and account_id = ${accountId}`.execute(db.query);
  return read.rows[0]?.createdAt ?? null;
}

/** `which` is a further condition on `calls`; if it does not hold, the result is `too_early`. */
async function eraseCall(
  db: Db,
  accountId: string,
  callId: string,
  which: RawBuilder<unknown>,
): Promise<Deletion> {
  const deleted = await inTransaction(db, async (tx) => {
    const gone = await sql`
      with gone as (
        delete from calls where id = ${callId} and account_id = ${accountId} and ended_at is not null
          and billing_status <> 'PENDING' and ${which}
        returning id, account_id, agent_id, node_id, recording_is_shared, created_at, joined_at, ended_at, end_reason, duration_ms,
          billed_duration_ms, sip_billed_ms, billing_status, coalesce((settings ->> 'recordingEnabled')::boolean, false) as recorded,
          summary is not null or short_summary is not null as had_summary,
          coalesce(settings ->> 'maxDuration', '3600s') as max_duration
      ), noted as (
        insert into deleted_calls (id, account_id, agent_id, created_at, joined_at, ended_at, deleted_at, end_reason,
          recording_enabled, had_summary, max_duration, duration_ms, billed_duration_ms, sip_billed_ms, billing_status)
        select id, account_id, agent_id, created_at, joined_at, ended_at, ${databaseTime}, end_reason, recorded,
          had_summary, max_duration, duration_ms, billed_duration_ms, sip_billed_ms, billing_status from gone
      ), files as (
        insert into files_to_remove (call_id, node_id, is_shared, due_at)
        select id, node_id, recording_is_shared, ${databaseTime} from gone where recorded
      )
      select id from gone`.execute(tx.query);
    if (gone.rows.length === 0) return false;
    for (const { erase } of CALL_TRACES) await erase(tx, accountId, callId);
    return true;
  });
  if (deleted) return "deleted";
  const left = await sql`select 1 from calls where id = ${callId} and account_id = ${accountId}`.execute(
    db.query,
  );
  return left.rows.length === 0 ? "not_found" : "too_early";
}

/** Deletion by the retention policy waits for work that is under way, at most this long after the end of the call. */
export const DELETION_WAIT_LIMIT_MS = 24 * 3_600_000;

/** Calls listed at a time; bounds the load of a sweep. */
export const DELETED_AT_ONCE = 100;

/** A condition on `calls`: the retention policy requires their deletion now. */
function isDue(time: SqlTime): RawBuilder<unknown> {
  const waits = CALL_TRACES.flatMap(({ underWay }) => (underWay === undefined ? [] : [underWay]));
  const overdue = sql`calls.ended_at <= ${laterBy(time, -DELETION_WAIT_LIMIT_MS)}`;
  const due = waits.length === 0 ? sql`true` : sql`(${overdue} or not (${sql.join(waits, sql` or `)}))`;
  return sql`calls.ended_at is not null and calls.settings ->> 'retentionPolicy' = 'auto_delete'
    and calls.billing_status <> 'PENDING' and ${due}`;
}

const callPlace = selectList("calls", { accountId: "account_id", callId: "id" });

/** Calls of any account whose retention policy requires their deletion now, oldest end first. */
export async function listCallsToDelete(
  db: Db,
  exceptIds: readonly string[] = [],
  time: SqlTime = databaseTime,
): Promise<readonly { readonly accountId: string; readonly callId: string }[]> {
  const read = await sql<Selected<typeof callPlace>>`
    select ${callPlace} from calls
    where ${isDue(time)} and id <> all(${exceptIds}::uuid[])
    order by ended_at limit ${DELETED_AT_ONCE}`.execute(db.query);
  return read.rows;
}

/** Deletes a call if its retention policy requires it and no work on it is under way; otherwise `too_early`. */
export async function deleteDueCall(
  db: Db,
  accountId: string,
  callId: string,
  time: SqlTime = databaseTime,
): Promise<Deletion> {
  return eraseCall(db, accountId, callId, isDue(time));
}

/**
 * How long ago a call ended that is billed and whose retention policy requires its deletion, in ms. Null: there is no
 * such call.
 */
export async function ageOfCallToDelete(
  db: Db,
  accountId: string,
  callId: string,
  time: SqlTime = databaseTime,
): Promise<number | null> {
  const read = await sql<{ ageMs: number }>`${preparedStatement}
    select (extract(epoch from ${time} - ended_at) * 1000)::bigint as "ageMs" from calls
    where id = ${callId} and account_id = ${accountId} and ended_at is not null
      and settings ->> 'retentionPolicy' = 'auto_delete' and billing_status <> 'PENDING'`.execute(db.query);
  const [row] = read.rows;
  return row === undefined ? null : row.ageMs;
}

/** Dates are ISO 8601 UTC with milliseconds. */
export interface DeletedCallRow {
  readonly callId: string;
  readonly accountId: string;
  readonly createdAt: string;
  readonly joinedAt: string | null;
  readonly endedAt: string | null;
  readonly deletedAt: string;
  readonly endReason: EndReason | null;
  readonly recordingEnabled: boolean;
  readonly hadSummary: boolean;
  /** As on the wire. */
  readonly maxDuration: string;
}

const deletedColumns = selectList(
  "deleted_calls",
  {
    callId: "id",
    accountId: "account_id",
    createdAt: "created_at",
    joinedAt: "joined_at",
    endedAt: "ended_at",
    deletedAt: "deleted_at",
    endReason: "end_reason",
    recordingEnabled: "recording_enabled",
    hadSummary: "had_summary",
    maxDuration: "max_duration",
  },
  "calls",
);

type DeletedColumns = Selected<typeof deletedColumns>;

/** Under the name that the conditions of call lists use. */
export const deletedAsCalls = sql`deleted_calls as calls`;

export async function getDeletedCall(
  db: Db,
  accountId: string,
  callId: string,
): Promise<DeletedCallRow | null> {
  const read = await sql<DeletedColumns>`
    select ${deletedColumns} from ${deletedAsCalls}
    where calls.id = ${callId} and calls.account_id = ${accountId}`.execute(db.query);
  return read.rows[0] ?? null;
}

/** Filters that still apply to deleted calls. */
type RetainedFilter = Omit<CallFilter, "metadata" | "search">;

/** The filter for deleted calls; null when it uses erased data, so that no deleted call matches. */
export function filterOfDeleted(filter: CallFilter): RetainedFilter | null {
  const { agentIds, durationMinMs, durationMaxMs, fromDate, toDate, ...others } = filter;
  const { timeOfDayStart, timeOfDayEnd, metadata, ...erased } = others;
  const asksForMetadata = Object.keys(metadata ?? {}).length > 0;
  if (asksForMetadata || Object.values(erased).some((value) => value !== undefined)) return null;
  return { agentIds, durationMinMs, durationMaxMs, fromDate, toDate, timeOfDayStart, timeOfDayEnd };
}

/** Newest creation first. */
export async function listDeletedCalls(
  db: Db,
  accountId: string,
  filter: CallFilter,
  page: PageQuery,
): Promise<PageRows<DeletedCallRow>> {
  const retained = filterOfDeleted(filter);
  return readPage<DeletedColumns>(
    db,
    {
      columns: deletedColumns,
      from: deletedAsCalls,
      where: [
        sql`calls.account_id = ${accountId}`,
        ...(retained === null ? [sql`false`] : callConditions(accountId, retained)),
      ],
      sort: sql`calls.created_at`,
      sortType: "timestamptz",
      id: sql`calls.id`,
      idType: "uuid",
      descending: true,
    },
    page,
  );
}
