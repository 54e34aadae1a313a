/** Tables of figures: usage, concurrency, and numbers of calls. */

import type { EngineKind } from "@parley/schema";
import type { ColumnsOf, Defaulted, Timestamp } from "./columns.ts";

/** Calls that have ended, by the hour of their creation. */
export interface UsageHoursTable {
  account_id: string;
  hour_at: Timestamp;
  /** Zeros for calls without an agent. */
  agent_id: string;
  calls: number;
  joined: number;
  errors: number;
  duration_ms: number;
  billed_ms: number;
  sip_billed_ms: Defaulted<number>;
}

export const usageHours: ColumnsOf<UsageHoursTable> = {
  account_id: "uuid",
  hour_at: "timestamptz",
  agent_id: "uuid",
  calls: "bigint",
  joined: "bigint",
  errors: "bigint",
  duration_ms: "bigint",
  billed_ms: "bigint",
  sip_billed_ms: "bigint",
};

/** Samples of concurrent calls, for each node. */
export interface ConcurrencySamplesTable {
  account_id: string;
  at: Timestamp;
  node_id: string;
  total: number;
  joined: number;
}

export const concurrencySamples: ColumnsOf<ConcurrencySamplesTable> = {
  account_id: "uuid",
  at: "timestamptz",
  node_id: "text",
  total: "integer",
  joined: "integer",
};

/** Older samples, summed by the hour. */
export interface ConcurrencyHoursTable {
  account_id: string;
  at: Timestamp;
  max_total: number;
  max_joined: number;
  sum_total: number;
  sum_joined: number;
}

export const concurrencyHours: ColumnsOf<ConcurrencyHoursTable> = {
  account_id: "uuid",
  at: "timestamptz",
  max_total: "integer",
  max_joined: "integer",
  sum_total: "bigint",
  sum_joined: "bigint",
};

/** Numbers of calls of an account, in several rows, so that creations seldom wait for a lock. Triggers count them. */
export interface CallCountsTable {
  account_id: string;
  part: number;
  calls: number;
}

export const callCounts: ColumnsOf<CallCountsTable> = {
  account_id: "uuid",
  part: "integer",
  calls: "bigint",
};

export interface CallCountsOfAgentsTable extends CallCountsTable {
  agent_id: string;
}

export const callCountsOfAgents: ColumnsOf<CallCountsOfAgentsTable> = { ...callCounts, agent_id: "uuid" };

export interface CallCountsOfHoursTable extends CallCountsTable {
  hour_at: Timestamp;
}

export const callCountsOfHours: ColumnsOf<CallCountsOfHoursTable> = { ...callCounts, hour_at: "timestamptz" };

/** Sums of what calls have used of engines, by the day of their creation. */
export interface EngineUseDaysTable {
  account_id: string;
  day_at: Timestamp;
  kind: EngineKind;
  engine: string;
  provider: string;
  /** Empty: it has no name. */
  model: string;
  /** Empty: there were no prices. */
  currency: string;
  requests: number;
  failures: number;
  dropped: number;
  latencies: number;
  latency_sum_ms: number;
  latency_max_ms: number;
  input_tokens: number;
  cached_input_tokens: number;
  output_tokens: number;
  uncounted: number;
  heard_ms: number;
  characters: number;
  spoken_ms: number;
  /** In 1e-9 units of the currency. */
  cost_nanos: number;
  unpriced: number;
}

export const engineUseDays: ColumnsOf<EngineUseDaysTable> = {
  account_id: "uuid",
  day_at: "timestamptz",
  kind: "text",
  engine: "text",
  provider: "text",
  model: "text",
  currency: "text",
  requests: "bigint",
  failures: "bigint",
  dropped: "bigint",
  latencies: "bigint",
  latency_sum_ms: "bigint",
  latency_max_ms: "bigint",
  input_tokens: "bigint",
  cached_input_tokens: "bigint",
  output_tokens: "bigint",
  uncounted: "bigint",
  heard_ms: "bigint",
  characters: "bigint",
  spoken_ms: "bigint",
  cost_nanos: "bigint",
  unpriced: "bigint",
};
