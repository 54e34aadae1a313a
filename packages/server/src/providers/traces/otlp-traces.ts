/** Sends traces in batches to a collector, by OTLP over HTTP (JSON). A collector that is down costs its spans alone. */

import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span as SdkSpan,
  type Tracer,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { RandomIdGenerator, TracerProvider } from "@opentelemetry/sdk-trace";
import type { TraceParent } from "../../ports/trace-parent.ts";
import type { Span, SpanStart, Traces } from "../../ports/traces.ts";
import { BoundedProcessor, EXPORT_LIMIT_MS } from "./bounded-processor.ts";
import { countLosses } from "./losses.ts";

export interface TraceOptions {
  /** Base URL of the collector, without `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly version: string;
  readonly nodeId: string;
  /** Called when spans were lost, at most once a minute. */
  readonly warn: (message: string) => void;
  /** Any clock in ms. Default: the monotonic clock of the process. */
  readonly nowMs?: () => number;
  /** See `BoundedProcessor`. */
  readonly queueLimit?: number;
}

/** The version of the semantic conventions whose names the spans use. Later versions keep `gen_ai.*` elsewhere. */
const SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0";

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT } as const;

export function openOtlpTraces(options: TraceOptions): Traces {
  const { endpoint, headers, version, nodeId, warn, nowMs = () => performance.now() } = options;
  const losses = countLosses(warn, nowMs);
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, "")}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: EXPORT_LIMIT_MS,
  });
  const processor = new BoundedProcessor(exporter, losses, options.queueLimit);
  const ids = new CallIds();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": "parley",
      "service.version": version,
      "service.instance.id": nodeId,
    }),
    idGenerator: ids,
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer("parley", version, { schemaUrl: SCHEMA_URL });
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    // What is not sent within the limit is lost, and must not stop the shutdown.
    await provider.shutdown().catch((error: unknown) => losses.add(processor.waiting, String(error)));
    losses.tell();
  };
  return {
    startCall(callId, parent, start) {
      if (parent?.isSampled === false) return null;
      ids.nextTraceId = callId.replaceAll("-", "");
      return spanOf(tracer, start, parent === null ? ROOT_CONTEXT : contextOf(parent));
    },
    close: () => (closing ??= close()),
  };
}

/** A trace without a parent gets the id of its call, by which a call is found at the collector. */
class CallIds extends RandomIdGenerator {
  nextTraceId = "";

  override generateTraceId(): string {
    return this.nextTraceId;
  }
}

function contextOf({ traceId, spanId }: TraceParent): Context {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });
}

function spanOf(tracer: Tracer, { name, kind, startMs, attributes }: SpanStart, context: Context): Span {
  const options = { kind: KINDS[kind], startTime: startMs, attributes: { ...attributes } };
  const span: SdkSpan = tracer.startSpan(name, options, context);
  const within = trace.setSpan(ROOT_CONTEXT, span);
  let isOver = false;
  return {
    child: (start) => spanOf(tracer, start, within),
    set: (more) => void span.setAttributes({ ...more }),
    rename: (name) => void span.updateName(name),
    note: (event, atMs, more = {}) => void span.addEvent(event, { ...more }, atMs),
    end(endMs, errorType) {
      if (isOver) return;
      isOver = true;
      if (errorType !== null) {
        span.setAttribute("error.type", errorType);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end(endMs);
    },
  };
}
