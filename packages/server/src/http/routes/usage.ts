import {
  type AgentUsage,
  type CallStatistics,
  type CallUsage,
  type ConcurrencyBucket,
  type ConcurrencyResponse,
  CONCURRENCY_SAMPLES_DAYS,
  costOf,
  ENGINE_USAGE_DAYS,
  type EngineUsageResponse,
  formatDurationMs,
  MAX_AGENT_USAGE_DAYS,
  MAX_CONCURRENCY_BUCKETS,
  MAX_USAGE_DAYS,
  MAX_USAGE_HOURS,
  MAX_USED_ENGINES,
  shownEngineUsage,
  type usageRoutes,
  type UsageResponse,
  validationError,
} from "@parley/schema";
import {
  readConcurrency,
  SAMPLE_INTERVAL_MS,
  samplesRetainedSinceMs,
  type ConcurrencyBucketRow,
} from "../../store/accounts/concurrency.ts";
import { readEngineUsage } from "../../store/accounts/engine-usage.ts";
import {
  readAgentUsage,
  readBilledDays,
  readCallUsage,
  type UsageFigures,
} from "../../store/accounts/usage.ts";
import type { Handler, HandlersOf } from "../api/endpoint.ts";
import { filterOf } from "./calls.ts";

const MINUTE_MS = 60_000;

function dateOf(at: string): string {
  return at.slice(0, 10);
}

function statistics(figures: UsageFigures): CallStatistics {
  return {
    totalCount: figures.calls,
    errorCount: figures.errors,
    joinedCount: figures.joined,
    duration: formatDurationMs(figures.durationMs),
    billedMinutes: figures.billedMs / MINUTE_MS,
  };
}

const callUsage: Handler<"getCallUsage"> = async ({ accountId, query }, { http }) => {
  const limits = { days: MAX_USAGE_DAYS, hours: MAX_USAGE_HOURS };
  const { all, days, hours } = await readCallUsage(http.store.db, accountId, filterOf(query), limits);
  const json: CallUsage = {
    allTime: statistics(all),
    daily: days.map((day) => ({ ...statistics(day), date: dateOf(day.at) })),
    hourly: hours.map((hour) => ({
      ...statistics(hour),
      date: dateOf(hour.at),
      hour: new Date(hour.at).getUTCHours(),
    })),
  };
  return { status: 200, json };
};

const agentUsage: Handler<"listAgentUsage"> = async ({ accountId, query }, { http }) => {
  const days = await readAgentUsage(http.store.db, accountId, filterOf(query), MAX_AGENT_USAGE_DAYS);
  const byAgent = new Map<string, AgentUsage>();
  for (const { agentId, agentName, at, billedMs, calls } of days) {
    const known = byAgent.get(agentId) ?? { agent: { agentId, name: agentName }, usage: [] };
    known.usage.push({ date: dateOf(at), billedMinutes: billedMs / MINUTE_MS, calls });
    byAgent.set(agentId, known);
  }
  return { status: 200, json: [...byAgent.values()] };
};

const billingUsage: Handler<"getBillingUsage"> = async ({ accountId, query }, { http }) => {
  const { fromDate, toDate } = query;
  const span = {
    fromDate: fromDate === undefined ? undefined : `${fromDate}T00:00:00.000Z`,
    toDate: toDate === undefined ? undefined : `${toDate}T23:59:59.999Z`,
  };
  const days = await readBilledDays(http.store.db, accountId, span, MAX_USAGE_DAYS);
  const total = (of: "billedMs" | "sipBilledMs"): number =>
    days.reduce((sum, day) => sum + day[of], 0) / MINUTE_MS;
  const json: UsageResponse = {
    dailyUsage: days.map((day) => ({
      date: dateOf(day.at),
      minutes: day.billedMs / MINUTE_MS,
      sipMinutes: day.sipBilledMs / MINUTE_MS,
    })),
    totalMinutes: total("billedMs"),
    totalSipMinutes: total("sipBilledMs"),
  };
  return { status: 200, json };
};

const DAY_MS = 24 * 60 * MINUTE_MS;

const engineUsage: Handler<"getEngineUsage"> = async ({ accountId, query }, { http }) => {
  const toDate = query.toDate ?? dateOf(new Date(http.nowMs()).toISOString());
  const firstMs = Date.parse(toDate) - (ENGINE_USAGE_DAYS - 1) * DAY_MS;
  const fromDate = query.fromDate ?? dateOf(new Date(firstMs).toISOString());
  if (fromDate > toDate) {
    throw validationError([{ field: "fromDate", message: "must not be after toDate" }]);
  }
  const span = { fromDay: fromDate, toDay: toDate };
  const rows = await readEngineUsage(http.store.db, accountId, span, MAX_USED_ENGINES);
  const currencies = new Set(rows.map(({ currency }) => currency));
  const json: EngineUsageResponse = {
    fromDate,
    toDate,
    engines: rows.map((row) => shownEngineUsage(row, row.currency)),
    costs: [...currencies].flatMap((currency) => {
      const cost = costOf(
        rows.filter((row) => row.currency === currency),
        currency,
      );
      return cost === null ? [] : [cost];
    }),
  };
  return { status: 200, json };
};

const BUCKET_MS: Record<ConcurrencyBucket, number> = {
  minute: MINUTE_MS,
  "5min": 5 * MINUTE_MS,
  hour: 60 * MINUTE_MS,
  day: DAY_MS,
};

const DEFAULT_SPAN_MS = DAY_MS;

const concurrencyUsage: Handler<"getConcurrencyUsage"> = async ({ accountId, query }, { http }) => {
  const nowMs = http.nowMs();
  const lengthMs = BUCKET_MS[query.bucket ?? "minute"];
  // There is no data for the future.
  const endMs = Math.min(query.end === undefined ? nowMs : Date.parse(query.end), nowMs);
  const requestedMs = query.start === undefined ? nowMs - DEFAULT_SPAN_MS : Date.parse(query.start);
  if (requestedMs >= endMs) {
    throw validationError([{ field: "start", message: "must be before end and before now" }]);
  }
  const startMs = Math.floor(requestedMs / lengthMs) * lengthMs;
  if (lengthMs < BUCKET_MS.hour && startMs < samplesRetainedSinceMs(nowMs)) {
    const message = `must be hour or day for times more than ${CONCURRENCY_SAMPLES_DAYS} days ago`;
    throw validationError([{ field: "bucket", message }]);
  }
  const count = Math.ceil((endMs - startMs) / lengthMs);
  if (count > MAX_CONCURRENCY_BUCKETS) {
    const message = `has ${count} buckets between start and end; at most ${MAX_CONCURRENCY_BUCKETS} are answered`;
    throw validationError([{ field: "bucket", message }]);
  }
  const span = { startMs, endMs: startMs + count * lengthMs, lengthMs };
  const rows = await readConcurrency(http.store.db, accountId, span);
  const known = new Map(rows.map((row) => [row.bucketMs, row]));
  const timeSeries = Array.from({ length: count }, (_, index) => {
    const bucketMs = startMs + index * lengthMs;
    return point(bucketMs, Math.min(lengthMs, nowMs - bucketMs), known.get(bucketMs));
  });
  const json: ConcurrencyResponse = { timeSeries };
  return { status: 200, json };
};

/** @param passedMs elapsed time of the bucket; future moments have no calls, and do not count as moments without any */
function point(
  bucketMs: number,
  passedMs: number,
  row: ConcurrencyBucketRow | undefined,
): ConcurrencyResponse["timeSeries"][number] {
  const moments = Math.ceil(passedMs / SAMPLE_INTERVAL_MS);
  const average = (sum = 0): number => Math.round((sum / Math.max(1, moments)) * 1000) / 1000;
  return {
    timestamp: new Date(bucketMs).toISOString(),
    maxTotalCalls: row?.maxTotal ?? 0,
    maxJoinedCalls: row?.maxJoined ?? 0,
    avgTotalCalls: average(row?.sumTotal),
    avgJoinedCalls: average(row?.sumJoined),
  };
}

export const usageHandlers: HandlersOf<typeof usageRoutes> = {
  listAgentUsage: agentUsage,
  getCallUsage: callUsage,
  getEngineUsage: engineUsage,
  getBillingUsage: billingUsage,
  getConcurrencyUsage: concurrencyUsage,
};
