/** Outcomes of scheduled calls: final status, return to the queue, counts, and the end of the batch. */

import { DEFAULT_PAUSE_ON_FAILURE_RATE } from "@parley/schema";
import { sql } from "kysely";
import type { ScheduledPlace } from "./batch-claims.ts";
import type { Row } from "../database/database.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { addOutcomes, failsTooOften, failureSentence } from "./recent-outcomes.ts";
import type { RecentOutcomes } from "../database/tables/batches.ts";

/** The outcome of one claim. */
export interface CallOutcome extends ScheduledPlace {
  /** FUTURE: the call returns to the queue. */
  readonly status: "SUCCESS" | "ERROR" | "FUTURE";
  readonly error: string | null;
  readonly callId: string | null;
  /** Of FUTURE: the delay until it can be claimed; 0: none, in its original order. */
  readonly dueInMs: number;
  /** An attempt at the dialled number has ended. */
  readonly attempted: boolean;
  /** An internal fault prevented the attempt. After `MOST_LAPSES` of these the status is ERROR. */
  readonly lapsed: boolean;
  /** How it counts for the failure rate; null: not at all. */
  readonly counts: "success" | "failure" | null;
  /** Pauses the batch, with this sentence. Absent: it does not. */
  readonly pauseReason?: string;
}

/** Internal faults after which a call is given up. If the process died each time, the call itself may be the cause. */
export const MOST_LAPSES = 5;
export const OUTCOME_UNKNOWN = "outcome unknown: the process that made the call stopped";
/** Limit of `error`, which is a few sentences. */
const MAX_ERROR_CHARS = 1_000;

const now = sql`statement_timestamp()`;

export interface BatchState {
  /** Why the batch was paused; null: it was not. */
  readonly pauseReason: string | null;
  /** All of its calls are done. */
  readonly ended: boolean;
}

interface HeldBatch extends Pick<Row<"scheduled_batches">, "extensions" | "recent_outcomes"> {
  readonly nowMs: number;
}

/**
 * Stores outcomes of claims of one batch. Outcomes of lost claims change nothing. `waitMs`: no call of the batch is
 * claimed for this time. Null: the batch was deleted.
 */
export async function storeCallOutcomes(
  db: Db,
  batchId: string,
  outcomes: readonly CallOutcome[],
  waitMs: number,
): Promise<BatchState | null> {
  return inTransaction(db, async (tx) => {
    const read = await sql<HeldBatch>`${preparedStatement}
      select recent_outcomes, extensions, (extract(epoch from ${now}) * 1000)::bigint as "nowMs"
      from scheduled_batches where id = ${batchId} and hidden_until is null for no key update`.execute(
      tx.query,
    );
    const [batch] = read.rows;
    if (batch === undefined) return null;
    const written = await writeOutcomes(tx, outcomes);
    const counted = outcomes.filter(({ claimId }) => written.has(claimId));
    const statuses = [...written.values()];
    const closed = statuses.filter((status) => status !== "FUTURE").length;
    const failed = statuses.filter((status) => status === "ERROR").length;
    const recent = addOutcomes(batch.recent_outcomes, counted, batch.nowMs);
    const rate = batch.extensions.pauseOnFailureRate ?? DEFAULT_PAUSE_ON_FAILURE_RATE;
    const fails = counted.some(({ counts }) => counts === "failure") && failsTooOften(recent, rate);
    const goesBack = closed < written.size;
    const named = counted.find((outcome) => outcome.pauseReason !== undefined)?.pauseReason ?? null;
    const pauseReason = named?.slice(0, MAX_ERROR_CHARS) ?? (fails ? failureSentence(recent) : null);
    const state = await closeCalls(tx, batchId, { closed, failed, goesBack, waitMs, recent, pauseReason });
    return { pauseReason: state.ended ? null : pauseReason, ended: state.ended };
  });
}

/** Returns the status of each claim that was still held. */
async function writeOutcomes(
  tx: Db,
  outcomes: readonly CallOutcome[],
): Promise<ReadonlyMap<string, CallOutcome["status"]>> {
  const rows = outcomes.map((outcome) => ({
    batch_id: outcome.batchId,
    position: outcome.position,
    claim_id: outcome.claimId,
    status: outcome.status,
    error: outcome.error === null ? null : toStorableText(outcome.error.slice(0, MAX_ERROR_CHARS)),
    call_id: outcome.callId,
    due_in_ms: outcome.dueInMs,
    attempted: outcome.attempted ? 1 : 0,
    lapsed: outcome.lapsed ? 1 : 0,
  }));
  // The connection broke while the call was written, so the process could not know that it was stored.
  const isMade = sql`(ended.lapsed > 0 and one.call_id is distinct from ended.call_id
    and exists (select 1 from calls where calls.id = one.call_id))`;
  const isGivenUp = sql`(ended.lapsed > 0 and one.lapses + 1 >= ${MOST_LAPSES})`;
  const written = await sql<{ claimId: string; status: CallOutcome["status"] }>`${preparedStatement}
    update scheduled_calls as one set claim_id = null, leased_until = null,
      call_id = case when ${isMade} then one.call_id else ended.call_id end,
      attempts = one.attempts + ended.attempted, lapses = one.lapses + ended.lapsed,
      status = case when ${isMade} or ${isGivenUp} then 'ERROR' else ended.status end,
      error = case when ${isMade} then ${OUTCOME_UNKNOWN} when ended.status <> 'FUTURE' or ${isGivenUp} then ended.error end,
      intended_at = case when ended.status = 'FUTURE' and not ${isMade} then null else one.intended_at end,
      due_at = case when ended.status <> 'FUTURE' or ended.due_in_ms = 0 then one.due_at
        else ${now} + make_interval(secs => ended.due_in_ms / 1000.0) end
    from json_to_recordset(${toJsonText(rows)}::json) as ended (batch_id uuid, position int, claim_id uuid,
      status text, error text, call_id uuid, due_in_ms bigint, attempted int, lapsed int)
    where one.batch_id = ended.batch_id and one.position = ended.position and one.claim_id = ended.claim_id
      and one.status = 'PENDING'
    returning ended.claim_id as "claimId", one.status`.execute(tx.query);
  return new Map(written.rows.map(({ claimId, status }) => [claimId, status]));
}

/** Changes of a batch whose row is locked. */
export interface ClosedCalls {
  /** Calls that have reached their final status. */
  readonly closed: number;
  /** Those of them with the status ERROR. */
  readonly failed: number;
  /** Other calls have returned to the queue. */
  readonly goesBack?: boolean;
  /** No call is claimed for this time. */
  readonly waitMs?: number;
  readonly recent?: RecentOutcomes;
  /** Pauses the batch, unless all of its calls are done or it is paused already. */
  readonly pauseReason?: string | null;
}

export async function closeCalls(
  tx: Db,
  batchId: string,
  { closed, failed, goesBack = false, waitMs = 0, recent, pauseReason = null }: ClosedCalls,
): Promise<{ readonly ended: boolean }> {
  const wait = sql`greatest(waits_until, ${now} + make_interval(secs => ${waitMs / 1000}))`;
  // Returned calls can be claimed at once, also if the batch was to be checked later because nothing was due.
  const turn =
    waitMs > 0 ? wait : goesBack ? sql`greatest(waits_until, least(turn_at, ${now}))` : sql`turn_at`;
  const pauses = sql`(${pauseReason !== null}::boolean and completed_count + ${closed} < total_count)`;
  const outcomes = recent === undefined ? sql`recent_outcomes` : sql`${toJsonText(recent)}::json`;
  const changed = await sql<{ ended: boolean }>`${preparedStatement}
    update scheduled_batches set completed_count = completed_count + ${closed},
      failed_count = failed_count + ${failed},
      ended_at = case when completed_count + ${closed} >= total_count then coalesce(ended_at, ${now}) end,
      turn_at = ${turn}, waits_until = ${waitMs > 0 ? wait : sql`waits_until`},
      recent_outcomes = ${outcomes},
      paused = paused or ${pauses},
      pause_reason = case when not paused and ${pauses} then ${pauseReason}::text else pause_reason end
    where id = ${batchId} and hidden_until is null returning ended_at is not null as ended`.execute(tx.query);
  return changed.rows[0] ?? { ended: false };
}

/** Calls that one statement marks as expired: about 10 ms. */
const EXPIRED_AT_ONCE = 1_000;

/** Marks calls as expired whose window has closed, also of paused batches. Returns their number; 0: none is left. */
export async function expireScheduledCalls(db: Db): Promise<number> {
  return inTransaction(db, async (tx) => {
    const found = await sql<Pick<Row<"scheduled_batches">, "id">>`
      select id from scheduled_batches as batch
      where batch.hidden_until is null and batch.ended_at is null and batch.window_end_at <= ${now}
        and exists (select 1 from scheduled_calls where batch_id = batch.id and status = 'FUTURE')
      order by window_end_at, id limit 1 for no key update skip locked`.execute(tx.query);
    const [batch] = found.rows;
    if (batch === undefined) return 0;
    const expired = await sql`
      update scheduled_calls set status = 'EXPIRED' where batch_id = ${batch.id} and position in (
        select position from scheduled_calls where batch_id = ${batch.id} and status = 'FUTURE'
        limit ${EXPIRED_AT_ONCE}) and status = 'FUTURE'`.execute(tx.query);
    const count = Number(expired.numAffectedRows ?? 0n);
    await closeCalls(tx, batch.id, { closed: count, failed: 0 });
    return count;
  });
}
