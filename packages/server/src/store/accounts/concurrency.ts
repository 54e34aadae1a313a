/** Concurrency figures: each node samples its calls every 10 seconds; older samples are rolled up by the hour. */

import { CONCURRENCY_SAMPLES_DAYS } from "@parley/schema";
import { sql } from "kysely";
import { databaseTime, laterBy, type SqlTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";

export const SAMPLE_INTERVAL_MS = 10_000;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** 60,480 rows for each account and node at most; 1,500 points of 5 minutes go back 5 days. */
export const SAMPLE_RETENTION_MS = CONCURRENCY_SAMPLES_DAYS * DAY_MS;
/** 36,000 rows for each account; 1,500 points of a day. */
export const HOUR_RETENTION_MS = 1_500 * DAY_MS;

/** The latest sampling time. All nodes sample at the same times. */
export function sampleTimeMs(nowMs: number): number {
  return Math.floor(nowMs / SAMPLE_INTERVAL_MS) * SAMPLE_INTERVAL_MS;
}

/** Samples the calls of a node. Idempotent for one sampling time. */
export async function sampleConcurrency(db: Db, nodeId: string, nowMs: number): Promise<void> {
  await sql`
    insert into concurrency_samples (account_id, at, node_id, total, joined)
    select account_id, ${new Date(sampleTimeMs(nowMs))}::timestamptz, ${nodeId}, count(*), count(joined_at)
    from calls where node_id = ${nodeId} and ended_at is null group by account_id
    on conflict do nothing`.execute(db.query);
}

/** Hours rolled up by one statement, and statements of one sweep. After a long pause the next sweep continues. */
const HOURS_AT_ONCE = 6;
const FOLDS_AT_ONCE = 100;

/** Samples since this time are retained; older ones only as hours. */
export function samplesRetainedSinceMs(nowMs: number): number {
  return Math.floor((nowMs - SAMPLE_RETENTION_MS) / HOUR_MS) * HOUR_MS;
}

/** Rolls up samples older than `SAMPLE_RETENTION_MS` by the hour, and deletes hours older than `HOUR_RETENTION_MS`. */
export async function foldSamples(db: Db, time: SqlTime = databaseTime): Promise<void> {
  const before = sql`date_trunc('hour', ${laterBy(time, -SAMPLE_RETENTION_MS)}, 'UTC')`;
  for (let folds = 0; folds < FOLDS_AT_ONCE; folds += 1) {
    const folded = await sql`
      with old as (
        delete from concurrency_samples where at < ${before} and at < (
          select date_trunc('hour', min(at), 'UTC') + ${HOURS_AT_ONCE} * interval '1 hour' from concurrency_samples)
        returning account_id, at, total, joined
      ), moments as (
        select account_id, at, sum(total) as total, sum(joined) as joined from old group by account_id, at
      )
      insert into concurrency_hours (account_id, at, max_total, max_joined, sum_total, sum_joined)
      select account_id, date_trunc('hour', at, 'UTC'), max(total), max(joined), sum(total), sum(joined)
      from moments group by 1, 2
      on conflict (account_id, at) do update set
        max_total = greatest(concurrency_hours.max_total, excluded.max_total),
        max_joined = greatest(concurrency_hours.max_joined, excluded.max_joined),
        sum_total = concurrency_hours.sum_total + excluded.sum_total,
        sum_joined = concurrency_hours.sum_joined + excluded.sum_joined`.execute(db.query);
    if (folded.numAffectedRows === 0n) break;
  }
  const forgotten = laterBy(time, -HOUR_RETENTION_MS);
  await sql`delete from concurrency_hours where at < ${forgotten}`.execute(db.query);
}

export interface ConcurrencyBucketRow {
  /** Start, ms since 1970; a multiple of the bucket's length. */
  readonly bucketMs: number;
  readonly maxTotal: number;
  readonly maxJoined: number;
  /** Summed over all sampling times. */
  readonly sumTotal: number;
  readonly sumJoined: number;
}

/**
 * Buckets with calls between two times, which are multiples of the bucket's length. Buckets of less than an hour come
 * from samples only, so there is none before `samplesRetainedSinceMs`.
 */
export async function readConcurrency(
  db: Db,
  accountId: string,
  span: { readonly startMs: number; readonly endMs: number; readonly lengthMs: number },
): Promise<readonly ConcurrencyBucketRow[]> {
  const { startMs, endMs, lengthMs } = span;
  const within = sql`account_id = ${accountId} and at >= ${new Date(startMs)}::timestamptz
    and at < ${new Date(endMs)}::timestamptz`;
  const read = await sql<ConcurrencyBucketRow>`
    with moments as (
      select at, sum(total) as total, sum(joined) as joined from concurrency_samples where ${within} group by at
    ), parts as (
      select at, total as max_total, joined as max_joined, total as sum_total, joined as sum_joined from moments
      union all
      select at, max_total, max_joined, sum_total, sum_joined from concurrency_hours
      where ${lengthMs >= HOUR_MS}::boolean and ${within}
    )
    select (floor(extract(epoch from at) * 1000 / ${lengthMs}) * ${lengthMs})::bigint as "bucketMs",
      max(max_total)::bigint as "maxTotal", max(max_joined)::bigint as "maxJoined",
      sum(sum_total)::bigint as "sumTotal", sum(sum_joined)::bigint as "sumJoined"
    from parts group by 1 order by 1`.execute(db.query);
  return read.rows;
}
