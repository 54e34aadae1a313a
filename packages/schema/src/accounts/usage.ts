/** Usage of an account, by the UTC day and hour in which calls were created. Deleted calls count. */

import { z } from "zod";
import { AgentBasic } from "../agents/agent.ts";
import { Cost, EngineUsage } from "../calls/engine-use.ts";
import { Duration } from "../values/duration.ts";
import { Timestamp } from "../values/fields.ts";
import { CalendarDate, moment } from "../values/moments.ts";
import { callFilters } from "../routes/queries.ts";

/** Most days in a response, the newest: ten years. */
export const MAX_USAGE_DAYS = 3_660;
/** Most hours in a response, the newest: 90 full days. */
export const MAX_USAGE_HOURS = 2_160;
/** Most days of all agents together in a response, the newest: 100 agents for a year. */
export const MAX_AGENT_USAGE_DAYS = 36_500;
/** Most points of a time series; 24 hours by the minute are 1,440. */
export const MAX_CONCURRENCY_BUCKETS = 1_500;
/** How far back buckets of less than an hour can be requested. */
export const CONCURRENCY_SAMPLES_DAYS = 7;

const count = z.int().min(0);
const minutes = z.number().min(0);

const figures = {
  totalCount: count,
  errorCount: count.describe("Calls that ended with connection_error or system_error."),
  joinedCount: count,
  duration: Duration.describe("From join to end, of ended calls."),
  billedMinutes: minutes.describe("Of billed calls; free and refunded calls are left out."),
};

export const CallStatistics = z.strictObject(figures);
export type CallStatistics = z.output<typeof CallStatistics>;

export const DailyCallStatistics = z.strictObject({ ...figures, date: CalendarDate });
export const HourlyCallStatistics = z.strictObject({
  ...figures,
  date: CalendarDate,
  hour: z.int().min(0).max(23),
});

export const CallUsage = z.strictObject({
  allTime: CallStatistics,
  daily: z.array(DailyCallStatistics).describe(`Days with calls, at most the newest ${MAX_USAGE_DAYS}.`),
  hourly: z.array(HourlyCallStatistics).describe(`Hours with calls, at most the newest ${MAX_USAGE_HOURS}.`),
});
export type CallUsage = z.output<typeof CallUsage>;

export const AgentUsage = z.strictObject({
  agent: AgentBasic,
  usage: z.array(z.strictObject({ date: CalendarDate, billedMinutes: minutes, calls: count })),
});
export type AgentUsage = z.output<typeof AgentUsage>;

export const UsageResponse = z.strictObject({
  dailyUsage: z
    .array(z.strictObject({ date: CalendarDate, minutes, sipMinutes: minutes }))
    .describe(`Days with calls, at most the newest ${MAX_USAGE_DAYS}.`),
  totalMinutes: minutes,
  totalSipMinutes: minutes,
});
export type UsageResponse = z.output<typeof UsageResponse>;

export const CONCURRENCY_BUCKETS = ["minute", "5min", "hour", "day"] as const;
export type ConcurrencyBucket = (typeof CONCURRENCY_BUCKETS)[number];

export const ConcurrencyResponse = z.strictObject({
  timeSeries: z.array(
    z.strictObject({
      timestamp: Timestamp.describe("When the bucket begins."),
      maxTotalCalls: count.describe("Most calls that were created and not ended."),
      maxJoinedCalls: count,
      avgTotalCalls: minutes,
      avgJoinedCalls: minutes,
    }),
  ),
});
export type ConcurrencyResponse = z.output<typeof ConcurrencyResponse>;

/** Most engines in a response, those with the most requests of each kind first. */
export const MAX_USED_ENGINES = 200;
/** Days of a request for engines that names none. */
export const ENGINE_USAGE_DAYS = 30;

export const EngineUsageResponse = z.strictObject({
  fromDate: CalendarDate,
  toDate: CalendarDate,
  engines: z
    .array(EngineUsage)
    .describe(
      `By kind, then by requests, at most ${MAX_USED_ENGINES}. An engine has one entry for each currency.`,
    ),
  costs: z.array(Cost).describe("One for each currency in which the operator had prices."),
});
export type EngineUsageResponse = z.output<typeof EngineUsageResponse>;

export const EngineUsageQuery = z.strictObject({
  fromDate: CalendarDate.optional().describe(
    `The first day, UTC. Default: ${ENGINE_USAGE_DAYS} days that end with the last one.`,
  ),
  toDate: CalendarDate.optional().describe("The last day, UTC. Default: today."),
});
export type EngineUsageQuery = z.output<typeof EngineUsageQuery>;

export const CallUsageQuery = z.strictObject(callFilters);
export type CallUsageQuery = z.output<typeof CallUsageQuery>;

export const BillingUsageQuery = z.strictObject({
  fromDate: CalendarDate.optional().describe("The first day, UTC."),
  toDate: CalendarDate.optional().describe("The last day, UTC."),
});
export type BillingUsageQuery = z.output<typeof BillingUsageQuery>;

export const ConcurrencyQuery = z.strictObject({
  bucket: z
    .enum(CONCURRENCY_BUCKETS)
    .meta({ default: "minute" })
    .optional()
    .describe(
      `At most ${MAX_CONCURRENCY_BUCKETS} buckets are returned. minute and 5min are available for the last ` +
        `${CONCURRENCY_SAMPLES_DAYS} days only.`,
    ),
  start: moment("first")
    .optional()
    .describe("24 hours ago when absent. The first bucket is the one that contains it."),
  end: moment("last").optional().describe("Now when absent."),
});
export type ConcurrencyQuery = z.output<typeof ConcurrencyQuery>;
