/** A collector of traces on 127.0.0.1 that reads OTLP (JSON) as a real one does, for tests. */

import { openLocalServer, type LocalServer } from "./local-server.ts";
import type { SpanAttributes } from "../traces.ts";
import type { EndedSpan } from "./fake-traces.ts";

interface Attribute {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: number | string;
    readonly doubleValue?: number;
    readonly boolValue?: boolean;
  };
}

interface SpanDocument {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly events: readonly {
    readonly name: string;
    readonly timeUnixNano: string;
    readonly attributes?: readonly Attribute[];
  }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

interface TraceDocument {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly schemaUrl?: string;
      readonly spans: readonly SpanDocument[];
    }[];
  }[];
}

export interface TraceCollector {
  /** The value of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string;
  readonly server: LocalServer;
  /** Of all requests so far, in the order in which they were sent. */
  readonly spans: () => readonly EndedSpan[];
  /** Attributes of the service that has sent the first request. */
  readonly resource: () => SpanAttributes;
  readonly close: () => Promise<void>;
}

/** @param status of the answers */
export async function openTraceCollector(status = 200): Promise<TraceCollector> {
  const server = await openLocalServer((_request, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end("{}");
  });
  const documents = (): TraceDocument[] =>
    server.requests.map(({ path, body }) => {
      if (path !== "/v1/traces") throw new Error(`traces were sent to ${path}`);
      return JSON.parse(body) as TraceDocument;
    });
  return {
    endpoint: new URL(server.baseUrl).origin,
    server,
    spans: () =>
      documents().flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(readSpan))),
      ),
    resource: () => attributesOf(documents()[0]?.resourceSpans[0]?.resource.attributes ?? []),
    close: () => server.close(),
  };
}

const KINDS: Readonly<Record<number, EndedSpan["kind"]>> = { 1: "internal", 3: "client" };
const FAILED = 2;

function readSpan(span: SpanDocument): EndedSpan {
  const kind = KINDS[span.kind];
  if (kind === undefined) throw new Error(`a span has the kind ${String(span.kind)}`);
  const { "error.type": errorType, ...attributes } = attributesOf(span.attributes);
  if ((errorType !== undefined) !== (span.status.code === FAILED))
    throw new Error(
      `the status of a span is ${JSON.stringify(span.status)}, and its error ${String(errorType)}`,
    );
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentId: span.parentSpanId === undefined || span.parentSpanId === "" ? null : span.parentSpanId,
    name: span.name,
    kind,
    startMs: inMs(span.startTimeUnixNano),
    endMs: inMs(span.endTimeUnixNano),
    attributes,
    notes: span.events.map(({ name, timeUnixNano, attributes: more = [] }) => ({
      name,
      atMs: inMs(timeUnixNano),
      attributes: attributesOf(more),
    })),
    errorType: errorType === undefined ? null : String(errorType),
  };
}

function attributesOf(list: readonly Attribute[]): SpanAttributes {
  return Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf({ stringValue, intValue, doubleValue, boolValue }: Attribute["value"]) {
  const value = stringValue ?? boolValue ?? doubleValue ?? (intValue === undefined ? null : Number(intValue));
  if (value === null) throw new Error("an attribute has no value that can be read");
  return value;
}

function inMs(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1_000_000n);
}
