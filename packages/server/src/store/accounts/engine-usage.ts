/** Sums of what calls have used of engines, by the UTC day of their creation. Deleted calls count. */

import type { CallUseRecord, EngineSums } from "@parley/schema";
import { sql, type RawBuilder } from "kysely";
import type { Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";

/**
 * A statement that adds the use of a call which has just ended; `ended` is a table with columns of `calls`. Rows are
 * locked in the order of their keys, so that no two calls wait for each other.
 */
export function addEngineUse(ended: string, use: CallUseRecord | null): RawBuilder<unknown> {
  // Members that the statement does not name are left out by the database.
  const engines = use?.engines ?? [];
  return sql`insert into engine_use_days (account_id, day_at, kind, engine, provider, model, currency, requests, failures,
      dropped, latencies, latency_sum_ms, latency_max_ms, input_tokens, cached_input_tokens, output_tokens, uncounted,
      heard_ms, characters, spoken_ms, cost_nanos, unpriced)
    select ended.account_id, date_trunc('day', ended.created_at, 'UTC'), used.kind, used.engine, used.provider,
      coalesce(used.model, ''), ${use?.currency ?? ""}::text, sum(used.requests), sum(used.failures), sum(used.dropped),
      sum(used.latencies), sum(used."latencySumMs"), max(used."latencyMaxMs"), sum(used."inputTokens"),
      sum(used."cachedInputTokens"), sum(used."outputTokens"), sum(used.uncounted), sum(used."heardMs"),
      sum(used.characters), sum(used."spokenMs"), sum(used."costNanos"), sum(used.unpriced)
    from ${sql.table(ended)} as ended, json_to_recordset(${toJsonText(engines)}::json) as used (kind text, engine text,
      provider text, model text, requests bigint, failures bigint, dropped bigint, latencies bigint,
      "latencySumMs" bigint, "latencyMaxMs" bigint, "inputTokens" bigint, "cachedInputTokens" bigint,
      "outputTokens" bigint, uncounted bigint, "heardMs" bigint, characters bigint, "spokenMs" bigint,
      "costNanos" bigint, unpriced bigint)
    group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
    on conflict (account_id, day_at, kind, engine, provider, model, currency) do update set
      requests = engine_use_days.requests + excluded.requests,
      failures = engine_use_days.failures + excluded.failures,
      dropped = engine_use_days.dropped + excluded.dropped,
      latencies = engine_use_days.latencies + excluded.latencies,
      latency_sum_ms = engine_use_days.latency_sum_ms + excluded.latency_sum_ms,
      latency_max_ms = greatest(engine_use_days.latency_max_ms, excluded.latency_max_ms),
      input_tokens = engine_use_days.input_tokens + excluded.input_tokens,
      cached_input_tokens = engine_use_days.cached_input_tokens + excluded.cached_input_tokens,
      output_tokens = engine_use_days.output_tokens + excluded.output_tokens,
      uncounted = engine_use_days.uncounted + excluded.uncounted,
      heard_ms = engine_use_days.heard_ms + excluded.heard_ms,
      characters = engine_use_days.characters + excluded.characters,
      spoken_ms = engine_use_days.spoken_ms + excluded.spoken_ms,
      cost_nanos = engine_use_days.cost_nanos + excluded.cost_nanos,
      unpriced = engine_use_days.unpriced + excluded.unpriced`;
}

export interface EngineUsageRow extends EngineSums {
  /** Null: there were no prices. */
  readonly currency: string | null;
}

/** Both inclusive, as `2026-01-31`. */
export interface DaySpan {
  readonly fromDay: string;
  readonly toDay: string;
}

/** By kind, then most requests first; at most `limit`. */
export async function readEngineUsage(
  db: Db,
  accountId: string,
  { fromDay, toDay }: DaySpan,
  limit: number,
): Promise<readonly EngineUsageRow[]> {
  const read = await sql<EngineUsageRow>`
    select kind, engine, provider, nullif(model, '') as model, nullif(currency, '') as currency,
      sum(requests)::bigint as requests, sum(failures)::bigint as failures, sum(dropped)::bigint as dropped,
      sum(latencies)::bigint as latencies, sum(latency_sum_ms)::bigint as "latencySumMs",
      max(latency_max_ms)::bigint as "latencyMaxMs", sum(input_tokens)::bigint as "inputTokens",
      sum(cached_input_tokens)::bigint as "cachedInputTokens", sum(output_tokens)::bigint as "outputTokens",
      sum(uncounted)::bigint as uncounted, sum(heard_ms)::bigint as "heardMs",
      sum(characters)::bigint as characters, sum(spoken_ms)::bigint as "spokenMs",
      sum(cost_nanos)::bigint as "costNanos", sum(unpriced)::bigint as unpriced
    from engine_use_days
    where account_id = ${accountId} and day_at >= ${`${fromDay}T00:00:00.000Z`}::timestamptz
      and day_at <= ${`${toDay}T00:00:00.000Z`}::timestamptz
    group by 1, 2, 3, 4, 5 order by array_position(array['stt', 'llm', 'tts'], kind), 6 desc, 2, 3, 4, 5
    limit ${limit}`.execute(db.query);
  return read.rows;
}
