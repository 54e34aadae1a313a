/** The deletion of calls, and what remains of them. */

import { sql, type RawBuilder } from "kysely";
import { callConditions, type CallFilter } from "./call-list.ts";
import { CALL_TRACES } from "./call-traces.ts";
import type { EndReason } from "./calls.ts";
import { inTransaction, type Db } from "./db.ts";
import { keptPlan } from "./kept-plans.ts";
import { readPage, type PageQuery, type PageRows } from "./page.ts";

/** `too_early`: it runs, or is not billed yet. */
export type Deletion = "deleted" | "too_early" | "not_found";

/**
 * Erases a call with all that belongs to it, in one transaction. Its files are noted for removal in the same one, so
 * that a crash before they are removed is made good; see `files-to-remove.ts`. Figures of usage stay.
 */
export async function deleteCall(db: Db, accountId: string, callId: string): Promise<Deletion> {
  return eraseCall(db, accountId, callId, sql`true`);
}

/** `which` is a further condition on `calls`; where it does not hold it is too early. */
async function eraseCall(
  db: Db,
  accountId: string,
  callId: string,
  which: RawBuilder<unknown>,
): Promise<Deletion> {
  const now = new Date();
  const deleted = await inTransaction(db, async (tx) => {
    const gone = await sql`
      with gone as (
        delete from calls where id = ${callId} and account_id = ${accountId} and ended_at is not null
          and billing_status <> 'PENDING' and ${which}
        returning id, account_id, agent_id, node_id, recording_is_shared, created_at, joined_at, ended_at, end_reason, duration_ms,
          billed_duration_ms, billing_status, coalesce((settings ->> 'recordingEnabled')::boolean, false) as recorded,
          summary is not null or short_summary is not null as had_summary,
          coalesce(settings ->> 'maxDuration', '3600s') as max_duration
      ), kept as (
        insert into deleted_calls (id, account_id, agent_id, created_at, joined_at, ended_at, deleted_at, end_reason,
          recording_enabled, had_summary, max_duration, duration_ms, billed_duration_ms, billing_status)
        select id, account_id, agent_id, created_at, joined_at, ended_at, ${now}::timestamptz, end_reason, recorded,
          had_summary, max_duration, duration_ms, billed_duration_ms, billing_status from gone
      ), files as (
        insert into files_to_remove (call_id, node_id, is_shared, due_at)
        select id, node_id, recording_is_shared, ${now}::timestamptz from gone where recorded
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

/** What a call's deletion by its retention policy waits for is waited for no longer than this after its end. */
export const DELETION_WAIT_LIMIT_MS = 24 * 3_600_000;

/** Calls listed at a time: bounds what a sweep takes from others. */
export const DELETED_AT_ONCE = 100;

/** A condition on `calls`: they are to be deleted now, by their retention policy. */
function isDue(nowMs: number): RawBuilder<unknown> {
  const waits = CALL_TRACES.flatMap(({ underWay }) => (underWay === undefined ? [] : [underWay]));
  const overdue = sql`calls.ended_at <= ${new Date(nowMs - DELETION_WAIT_LIMIT_MS)}::timestamptz`;
  const due = waits.length === 0 ? sql`true` : sql`(${overdue} or not (${sql.join(waits, sql` or `)}))`;
  return sql`calls.ended_at is not null and calls.settings ->> 'retentionPolicy' = 'auto_delete'
    and calls.billing_status <> 'PENDING' and ${due}`;
}

/** Calls of any account whose retention policy says that they are to be deleted now, oldest end first. */
export async function listCallsToDelete(
  db: Db,
  nowMs: number,
  exceptIds: readonly string[] = [],
): Promise<readonly { readonly accountId: string; readonly callId: string }[]> {
  const read = await sql<{ accountId: string; callId: string }>`
    select account_id as "accountId", id as "callId" from calls
    where ${isDue(nowMs)} and id <> all(${exceptIds}::uuid[])
    order by ended_at limit ${DELETED_AT_ONCE}`.execute(db.query);
  return read.rows;
}

/** Deletes a call where its retention policy says so and nothing of it is under way any more; otherwise it is `too_early`. */
export async function deleteDueCall(
  db: Db,
  accountId: string,
  callId: string,
  nowMs: number,
): Promise<Deletion> {
  return eraseCall(db, accountId, callId, isDue(nowMs));
}

/** The end of a call that is there, over, final and to be deleted by itself; null: it is none such. */
export async function endOfCallToDelete(db: Db, accountId: string, callId: string): Promise<number | null> {
  const read = await sql<{ endedAt: string }>`${keptPlan}
    select ended_at as "endedAt" from calls
    where id = ${callId} and account_id = ${accountId} and ended_at is not null
      and settings ->> 'retentionPolicy' = 'auto_delete' and billing_status <> 'PENDING'`.execute(db.query);
  const [row] = read.rows;
  return row === undefined ? null : Date.parse(row.endedAt);
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

const deletedColumns = sql`calls.id as "callId", calls.account_id as "accountId", calls.created_at as "createdAt",
  calls.joined_at as "joinedAt", calls.ended_at as "endedAt", calls.deleted_at as "deletedAt",
  calls.end_reason as "endReason", calls.recording_enabled as "recordingEnabled", calls.had_summary as "hadSummary",
  calls.max_duration as "maxDuration"`;

/** Named as the conditions of call lists name them. */
export const deletedAsCalls = sql`deleted_calls as calls`;

export async function getDeletedCall(
  db: Db,
  accountId: string,
  callId: string,
): Promise<DeletedCallRow | null> {
  const read = await sql<DeletedCallRow>`
    select ${deletedColumns} from ${deletedAsCalls}
    where calls.id = ${callId} and calls.account_id = ${accountId}`.execute(db.query);
  return read.rows[0] ?? null;
}

/** What deleted calls can still be told apart by. */
type KeptFilter = Omit<CallFilter, "metadata" | "search">;

/** The filter for deleted calls; null when it asks for something that was erased, which no deleted call has. */
export function filterOfDeleted(filter: CallFilter): KeptFilter | null {
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
  const kept = filterOfDeleted(filter);
  return readPage<DeletedCallRow>(
    db,
    {
      columns: deletedColumns,
      from: deletedAsCalls,
      where: [
        sql`calls.account_id = ${accountId}`,
        ...(kept === null ? [sql`false`] : callConditions(accountId, kept)),
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
