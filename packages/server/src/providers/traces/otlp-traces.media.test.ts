import { afterEach, describe, expect, test } from "vitest";
import { openTraceCollector, type TraceCollector } from "../../ports/testing/trace-collector.ts";
import { describeTracesConformance } from "../../ports/testing/traces-conformance.ts";
import type { SpanStart } from "../../ports/traces.ts";
import { openOtlpTraces, type TraceOptions } from "./otlp-traces.ts";

const CALL_ID = "0e9f3a52-5b4e-4b57-9d0c-8e8b0a3c9f11";
const START: SpanStart = { name: "call", kind: "internal", startMs: 1_700_000_000_000, attributes: {} };

const collectors: TraceCollector[] = [];
afterEach(async () => {
  await Promise.all(collectors.splice(0).map((collector) => collector.close()));
});

function unexpected(message: string): void {
  throw new Error(message);
}

function optionsFor(endpoint: string, more: Partial<TraceOptions> = {}): TraceOptions {
  return { endpoint, headers: {}, version: "9.9.9", nodeId: "node-1", warn: unexpected, ...more };
}

describeTracesConformance("a collector by OTLP over HTTP", async () => {
  const collector = await openTraceCollector();
  const traces = openOtlpTraces(optionsFor(collector.endpoint));
  return {
    traces,
    arrived: async () => {
      await traces.close();
      return collector.spans();
    },
    close: async () => {
      await traces.close();
      await collector.close();
    },
  };
});

async function collectorWith(status: number): Promise<TraceCollector> {
  const collector = await openTraceCollector(status);
  collectors.push(collector);
  return collector;
}

describe("a collector", () => {
  test("gets the headers of the settings, and which node has sent the spans", async () => {
    const collector = await collectorWith(200);
    const headers = { "x-key": "secret" };
    const traces = openOtlpTraces(optionsFor(`${collector.endpoint}/`, { headers }));
    traces.startCall(CALL_ID, null, START)?.end(START.startMs + 1, null);
    await traces.close();
    expect(collector.server.requests).toMatchObject([{ path: "/v1/traces", headers: { "x-key": "secret" } }]);
    expect(collector.server.requests[0]?.body).toContain('"https://opentelemetry.io/schemas/1.41.0"');
    expect(collector.resource()).toEqual({
      "service.name": "parley",
      "service.version": "9.9.9",
      "service.instance.id": "node-1",
    });
  });

  test("that refuses or is not there costs nothing but its spans, and is told once", async () => {
    const refusing = await collectorWith(400);
    for (const url of [refusing.endpoint, "http://127.0.0.1:1"]) {
      const warnings: string[] = [];
      const traces = openOtlpTraces(optionsFor(url, { warn: (message) => warnings.push(message) }));
      const call = traces.startCall(CALL_ID, null, START);
      call?.child(START).end(START.startMs + 1, null);
      call?.end(START.startMs + 2, null);
      await expect(traces.close()).resolves.toBeUndefined();
      expect(warnings).toEqual([expect.stringContaining("did not take 2 spans")]);
    }
  });

  test("that is behind gets as many spans as may wait; the others are told once a minute", async () => {
    const collector = await collectorWith(200);
    const warnings: string[] = [];
    let nowMs = 0;
    const warn = (message: string) => warnings.push(message);
    const limits = { queueLimit: 3, nowMs: () => nowMs, warn };
    const traces = openOtlpTraces(optionsFor(collector.endpoint, limits));
    const call = traces.startCall(CALL_ID, null, START);
    const endMore = (count: number) => {
      for (let i = 0; i < count; i += 1) call?.child(START).end(START.startMs + 1, null);
    };
    endMore(5);
    nowMs = 59_999;
    endMore(4);
    nowMs = 60_000;
    endMore(1);
    expect(warnings).toEqual([
      expect.stringContaining("did not take 1 spans: 3 spans are waiting already"),
      expect.stringContaining("did not take 6 spans"),
    ]);
    await traces.close();
    expect(collector.spans()).toHaveLength(3);
  });
});
