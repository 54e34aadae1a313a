/** What a call has used of each engine: requests, latency, amounts and cost. */

import { z } from "zod";
import { EngineKind } from "../deployment/engine.ts";
import { Duration, formatDurationMs } from "../values/duration.ts";

/** Sums of the requests to one engine, as they are counted and stored. */
export interface EngineSums {
  readonly kind: EngineKind;
  /** As the metrics name it: of a list the name of its entry, of an external voice the vendor. */
  readonly engine: string;
  readonly provider: string;
  /** Null: it has no name. */
  readonly model: string | null;
  readonly requests: number;
  readonly failures: number;
  /** Requests that the call gave up. */
  readonly dropped: number;
  /** Requests with a latency, the sum of these latencies, and the greatest. */
  readonly latencies: number;
  readonly latencySumMs: number;
  readonly latencyMaxMs: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  /** Requests to a model whose tokens its server did not count. */
  readonly uncounted: number;
  readonly heardMs: number;
  readonly characters: number;
  readonly spokenMs: number;
  /** In 1e-9 units of the currency, of the uses whose cost is known. */
  readonly costNanos: number;
  /** Uses whose cost is not known. */
  readonly unpriced: number;
}

/** Of one call. */
export interface CallEngineSums extends EngineSums {
  /** Null: no request has a latency. */
  readonly latencyMedianMs: number | null;
}

/** What is stored with a call when it ends. */
export interface CallUseRecord {
  /** Null: the operator has no table of prices. */
  readonly currency: string | null;
  readonly engines: readonly CallEngineSums[];
}

const count = z.int().min(0);
/** A decimal number without an exponent, so that no digit is lost. */
const Money = z
  .string()
  .regex(/^\d+(?:\.\d{1,9})?$/)
  .meta({ examples: ["0.004215"] });

const sums = {
  kind: EngineKind,
  engine: z
    .string()
    .describe("As in the metrics: of a list the name of its entry, of an external voice the vendor."),
  provider: z.string().describe("The adapter or the vendor, such as `openai` or `ElevenLabs`."),
  model: z.string().nullable(),
  requests: count,
  failures: count,
  dropped: count.describe("Requests that the call gave up, for example after an interruption."),
  maxLatency: Duration.nullable(),
  inputTokens: count.describe("As the model server counted them, with those from its cache."),
  cachedInputTokens: count,
  outputTokens: count,
  uncountedRequests: count.describe("Requests whose tokens the model server did not count."),
  heard: Duration.describe("Audio that a recogniser was given."),
  characters: count.describe("Characters that a voice was given."),
  spoken: Duration.describe("Audio that a voice gave."),
  cost: Money.nullable().describe("Null without a table of prices."),
  unpricedRequests: count.describe("Requests that `cost` lacks: without a price, or not counted."),
};

export const EngineUse = z.strictObject({
  ...sums,
  medianLatency: Duration.nullable().describe(
    "From the request to the first token, the first audio or the transcript. Null if there was none.",
  ),
});
export type EngineUse = z.output<typeof EngineUse>;

/** Over many calls. */
export const EngineUsage = z.strictObject({
  ...sums,
  meanLatency: Duration.nullable(),
  currency: z.string().nullable().describe("Of `cost`. Null without a table of prices."),
});
export type EngineUsage = z.output<typeof EngineUsage>;

export const Cost = z.strictObject({
  amount: Money,
  currency: z.string(),
  isComplete: z.boolean().describe("Whether all requests have a price and were counted."),
  withoutPrice: z.array(z.string()).describe("Engines with requests that the amount lacks."),
});
export type Cost = z.output<typeof Cost>;

const NANOS = 1_000_000_000;

/** Such as `0.0042`: without zeros at the end. */
export function decimalOfNanos(nanos: number): string {
  const whole = Math.floor(nanos / NANOS);
  const rest = String(nanos % NANOS)
    .padStart(9, "0")
    .replace(/0+$/, "");
  return rest === "" ? String(whole) : `${String(whole)}.${rest}`;
}

/** @param currency null: without costs */
export function shownEngineUse(engine: CallEngineSums, currency: string | null): EngineUse {
  return { ...shown(engine, currency), medianLatency: durationOf(engine.latencyMedianMs) };
}

/** @param currency null: without costs */
export function shownEngineUsage(engine: EngineSums, currency: string | null): EngineUsage {
  const { latencies, latencySumMs } = engine;
  const meanMs = latencies === 0 ? null : Math.round(latencySumMs / latencies);
  return { ...shown(engine, currency), meanLatency: durationOf(meanMs), currency };
}

function shown(engine: EngineSums, currency: string | null): Omit<EngineUse, "medianLatency"> {
  const { kind, engine: name, provider, model, requests, failures, dropped, latencies } = engine;
  const { inputTokens, cachedInputTokens, outputTokens, characters } = engine;
  return {
    kind,
    engine: name,
    provider,
    model,
    requests,
    failures,
    dropped,
    maxLatency: durationOf(latencies === 0 ? null : engine.latencyMaxMs),
    inputTokens,
    cachedInputTokens,
    outputTokens,
    uncountedRequests: engine.uncounted,
    heard: formatDurationMs(engine.heardMs),
    characters,
    spoken: formatDurationMs(engine.spokenMs),
    cost: currency === null ? null : decimalOfNanos(engine.costNanos),
    unpricedRequests: currency === null ? 0 : engine.unpriced,
  };
}

function durationOf(ms: number | null): string | null {
  return ms === null ? null : formatDurationMs(ms);
}

/** Null: there is no table of prices. */
export function costOf(engines: readonly EngineSums[], currency: string | null): Cost | null {
  if (currency === null) return null;
  const withoutPrice = engines.flatMap(({ engine, unpriced }) => (unpriced === 0 ? [] : [engine]));
  return {
    amount: decimalOfNanos(engines.reduce((sum, { costNanos }) => sum + costNanos, 0)),
    currency,
    isComplete: withoutPrice.length === 0,
    withoutPrice: [...new Set(withoutPrice)],
  };
}
