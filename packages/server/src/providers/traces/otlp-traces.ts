/**
 * One OpenTelemetry span for each answered turn, sent in batches to a collector by OTLP over HTTP. All turns of a call
 * share a trace whose id is the call's id without its hyphens. Spans contain nothing that was said.
 */

import type { TurnLatency } from "@parley/schema";
import { ROOT_CONTEXT, SpanKind, trace, TraceFlags, type Context } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider, type SpanExporter } from "@opentelemetry/sdk-trace";

export interface TurnTraces {
  /** `nowMs`: wall clock at the first played audio. Never throws, never waits. */
  turnCompleted(callId: string, turn: TurnLatency, nowMs: number): void;
  turnInterrupted(callId: string, cause: string, nowMs: number): void;
  /** Sends the remaining spans, within a limited time. Idempotent. */
  close(): Promise<void>;
}

export interface TraceOptions {
  /** Base URL of the collector, without `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly version: string;
  /** Called when spans were lost, at most once a minute. */
  readonly warn: (message: string) => void;
}

/** Limit of turns that wait for the collector: some minutes of a full process. More are dropped. */
const QUEUE_LIMIT = 2_048;
const BATCH_LIMIT = 512;
const SEND_EVERY_MS = 5_000;
/** Limit of the last send, so that a collector that is down does not delay the shutdown. */
const SEND_LIMIT_MS = 3_000;
const WARN_EVERY_MS = 60_000;

/** The steps of a turn, as events of its span. */
const STEPS = {
  endOfTurnMs: "end of turn",
  transcriptFinalMs: "transcript final",
  firstTokenMs: "first token",
  firstSentenceMs: "first sentence",
  firstAudioMs: "first audio",
} as const satisfies Partial<Record<keyof TurnLatency, string>>;

export function openTurnTraces({ endpoint, headers, version, warn }: TraceOptions): TurnTraces {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, "")}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: SEND_LIMIT_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "parley", "service.version": version }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: forgiving(exporter, warn),
        maxQueueSize: QUEUE_LIMIT,
        maxExportBatchSize: BATCH_LIMIT,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: SEND_LIMIT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer("parley", version);
  let closing: Promise<void> | null = null;
  return {
    turnCompleted(callId, turn, nowMs) {
      const speechEndMs = nowMs - (turn.firstPlayedMs ?? 0);
      const attributes = {
        "parley.call_id": callId,
        "parley.turn_id": turn.turnId,
        "parley.turn.speculative": turn.speculative,
        ...stepAttributes(turn),
      };
      const options = { kind: SpanKind.INTERNAL, startTime: speechEndMs, attributes };
      const span = tracer.startSpan("turn", options, ofCall(callId));
      for (const [step, name] of Object.entries(STEPS) as [keyof typeof STEPS, string][]) {
        const afterMs = turn[step];
        // Speculative work may have been done before the end of the speech.
        if (afterMs !== null) span.addEvent(name, speechEndMs + Math.max(0, afterMs));
      }
      span.end(nowMs);
    },
    turnInterrupted(callId, cause, nowMs) {
      const attributes = { "parley.call_id": callId, "parley.interruption.cause": cause };
      tracer.startSpan("interruption", { startTime: nowMs, attributes }, ofCall(callId)).end(nowMs);
    },
    close: () => (closing ??= provider.shutdown()),
  };
}

/** If the collector is down, only spans are lost; the operator is notified. */
function forgiving(exporter: OTLPTraceExporter, warn: (message: string) => void): SpanExporter {
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const nowMs = performance.now();
        if (result.error !== undefined && nowMs - warnedAtMs >= WARN_EVERY_MS) {
          warnedAtMs = nowMs;
          warn(`the trace collector did not take ${String(spans.length)} spans: ${result.error.message}`);
        }
        done({ code: 0 });
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

function stepAttributes(turn: TurnLatency): Record<string, number> {
  const steps = [...Object.keys(STEPS), "firstPlayedMs"] as (keyof typeof STEPS | "firstPlayedMs")[];
  return Object.fromEntries(
    steps.flatMap((step) => {
      const afterMs = turn[step];
      return afterMs === null ? [] : [[`parley.turn.${step}`, afterMs]];
    }),
  );
}

/** A parent that is not recorded; it gives the spans of a call their trace. */
function ofCall(callId: string): Context {
  const traceId = callId.replaceAll("-", "");
  const spanId = traceId.slice(16);
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });
}
