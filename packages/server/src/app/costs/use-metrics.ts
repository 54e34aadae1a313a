/** Metrics of what engines are asked for. Their labels name engines of the deployment and vendors, never voices. */

import { Counter, Histogram, type Registry } from "prom-client";
import type { UseWatcher } from "./engine-meter.ts";

/** Seconds; fine below the second within which most engines answer, up to the limits of calls. */
const LATENCY_BUCKETS = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10];
const NANOS = 1_000_000_000;

export function engineUseMetrics(registry: Registry): UseWatcher {
  const registers = [registry];
  const latency = new Histogram({
    name: "parley_engine_latency_seconds",
    help: "Time from a request to an engine to its first token, its first audio or its transcript",
    labelNames: ["kind", "engine"] as const,
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const tokens = new Counter({
    name: "parley_engine_tokens_total",
    help: "Tokens that model servers have counted, by type: input (not from a cache), cached_input, output",
    labelNames: ["engine", "type"] as const,
    registers,
  });
  const characters = new Counter({
    name: "parley_engine_characters_total",
    help: "Characters that voices were given",
    labelNames: ["engine"] as const,
    registers,
  });
  const audio = new Counter({
    name: "parley_engine_audio_seconds_total",
    help: "Audio that recognisers were given (stt) and that voices gave (tts)",
    labelNames: ["kind", "engine"] as const,
    registers,
  });
  const cost = new Counter({
    name: "parley_engine_cost_total",
    help: "Cost of the requests to engines that have a price, in the currency of the table of prices",
    labelNames: ["kind", "currency"] as const,
    registers,
  });
  const unpriced = new Counter({
    name: "parley_engine_unpriced_requests_total",
    help: "Requests that the cost lacks: without a price, or not counted by the model server",
    labelNames: ["kind", "engine"] as const,
    registers,
  });
  return (use, currency) => {
    const { kind, engine, latencyMs, costNanos } = use;
    if (latencyMs !== null) latency.observe({ kind, engine }, latencyMs / 1_000);
    const byType = [
      ["input", use.inputTokens - use.cachedInputTokens],
      ["cached_input", use.cachedInputTokens],
      ["output", use.outputTokens],
    ] as const;
    for (const [type, count] of byType) if (count > 0) tokens.inc({ engine, type }, count);
    if (use.characters > 0) characters.inc({ engine }, use.characters);
    const audioMs = use.heardMs + use.spokenMs;
    if (audioMs > 0) audio.inc({ kind, engine }, audioMs / 1_000);
    if (currency === null) return;
    if (costNanos === null) unpriced.inc({ kind, engine });
    else if (costNanos > 0) cost.inc({ kind, currency }, costNanos / NANOS);
  };
}
