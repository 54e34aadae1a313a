/** Tables of figures: usage, concurrency, and numbers of calls. */

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
