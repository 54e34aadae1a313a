/** How scheduled calls come to their end: outcomes, calls that go back, counts, and the end of the batch. */

import { DEFAULT_PAUSE_ON_FAILURE_RATE } from "@parley/schema";
import { sql } from "kysely";
import type { BatchExtensions } from "./batches.ts";
import type { ScheduledPlace } from "./batch-claims.ts";
import { inTransaction, type Db } from "./db.ts";
import { toJsonText, toStorableText } from "./json-text.ts";
import { keptPlan } from "./kept-plans.ts";
import { addOutcomes, failsTooOften, failureSentence, type RecentOutcomes } from "./recent-outcomes.ts";

/** What became of one claim. */
export interface CallOutcome extends ScheduledPlace {
  /** FUTURE: it is made later. */
  readonly status: "SUCCESS" | "ERROR" | "FUTURE";
  readonly error: string | null;
  readonly callId: string | null;
  /** Of FUTURE: not before; 0: in its place. */
  readonly dueInMs: number;
  /** An attempt at the dialled number has ended. */
  readonly attempted: boolean;
  /** It could not even be tried, for a fault of ours: after some of these it is an ERROR. */
  readonly lapsed: boolean;
  /** What it is for the rate of failures. */
  readonly counts: "success" | "failure" | null;
}

/** Faults of ours, after which a call is given up; where its maker died each time, it may be what kills it. */
export const MOST_LAPSES = 5;
export const OUTCOME_UNKNOWN = "outcome unknown: whoever made the call was cut off";
/** Of `error`: a sentence or some. */
const MAX_ERROR_CHARS = 1_000;

const now = sql`statement_timestamp()`;

export interface KeptOutcomes {
  /** The batch was paused: too many of its calls fail. */
  readonly paused: boolean;
  /** It has no call left to make. */
  readonly ended: boolean;
}

interface HeldBatch {
  readonly recent: RecentOutcomes;
  readonly extensions: BatchExtensions;
  readonly nowMs: number;
}

/**
 * Writes outcomes of claims of one batch. Those of claims that were lost meanwhile change nothing. `waitMs`: nothing else
 * of the batch is claimed before. Null: the batch was deleted.
 */
export async function keepCallOutcomes(
  db: Db,
  batchId: string,
  outcomes: readonly CallOutcome[],
  waitMs: number,
): Promise<KeptOutcomes | null> {
  return inTransaction(db, async (tx) => {
    const read = await sql<HeldBatch>`${keptPlan}
      select recent_outcomes as recent, extensions, (extract(epoch from ${now}) * 1000)::bigint as "nowMs"
      from scheduled_batches where id = ${batchId} and hidden_until is null for no key update`.execute(
      tx.query,
    );
    const [batch] = read.rows;
    if (batch === undefined) return null;
    const written = await writeOutcomes(tx, outcomes);
    const counted = outcomes.filter(({ claimId }) => written.has(claimId));
    const closed = [...written.values()].filter((status) => status !== "FUTURE").length;
    const recent = addOutcomes(batch.recent, counted, batch.nowMs);
    const rate = batch.extensions.pauseOnFailureRate ?? DEFAULT_PAUSE_ON_FAILURE_RATE;
    const paused = counted.some(({ counts }) => counts === "failure") && failsTooOften(recent, rate);
    const goesBack = closed < written.size;
    const pauseReason = paused ? failureSentence(recent) : null;
    const state = await closeCalls(tx, batchId, { closed, goesBack, waitMs, recent, pauseReason });
    return { paused: paused && !state.ended, ended: state.ended };
  });
}

/** Gives the status of each claim that was still held. */
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
  // The connection broke while the call was written: whoever made it could not know that it is there.
  const isMade = sql`(ended.lapsed > 0 and one.call_id is distinct from ended.call_id
    and exists (select 1 from calls where calls.id = one.call_id))`;
  const isGivenUp = sql`(ended.lapsed > 0 and one.lapses + 1 >= ${MOST_LAPSES})`;
  const written = await sql<{ claimId: string; status: CallOutcome["status"] }>`${keptPlan}
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

/** What changes of a batch whose row is held. */
export interface ClosedCalls {
  /** Calls that have come to their end. */
  readonly closed: number;
  /** Others can be claimed again. */
  readonly goesBack?: boolean;
  /** Nothing is claimed before. */
  readonly waitMs?: number;
  readonly recent?: RecentOutcomes;
  /** Pauses the batch, if there is anything left of it and nobody else has paused it. */
  readonly pauseReason?: string | null;
}

export async function closeCalls(
  tx: Db,
  batchId: string,
  { closed, goesBack = false, waitMs = 0, recent, pauseReason = null }: ClosedCalls,
): Promise<{ readonly ended: boolean }> {
  const wait = sql`greatest(waits_until, ${now} + make_interval(secs => ${waitMs / 1000}))`;
  // What goes back may be claimed at once, also where the batch was to be looked at later because nothing was left.
  const turn =
    waitMs > 0 ? wait : goesBack ? sql`greatest(waits_until, least(turn_at, ${now}))` : sql`turn_at`;
  const pauses = sql`(${pauseReason !== null}::boolean and completed_count + ${closed} < total_count)`;
  const kept = recent === undefined ? sql`recent_outcomes` : sql`${toJsonText(recent)}::json`;
  const changed = await sql<{ ended: boolean }>`${keptPlan}
    update scheduled_batches set completed_count = completed_count + ${closed},
      ended_at = case when completed_count + ${closed} >= total_count then coalesce(ended_at, ${now}) end,
      turn_at = ${turn}, waits_until = ${waitMs > 0 ? wait : sql`waits_until`},
      recent_outcomes = ${kept},
      paused = paused or ${pauses},
      pause_reason = case when not paused and ${pauses} then ${pauseReason}::text else pause_reason end
    where id = ${batchId} and hidden_until is null returning ended_at is not null as ended`.execute(tx.query);
  return changed.rows[0] ?? { ended: false };
}

/** Calls that expire by one statement: some 10 ms. */
const EXPIRED_AT_ONCE = 1_000;

/** Marks some calls whose window has closed, also of paused batches. Gives how many; 0: there was none. */
export async function expireScheduledCalls(db: Db): Promise<number> {
  return inTransaction(db, async (tx) => {
    const found = await sql<{ id: string }>`
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
    await closeCalls(tx, batch.id, { closed: count });
    return count;
  });
}
