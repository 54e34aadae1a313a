import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { describe, expect, it, vi } from "vitest";
import { CollectedMetrics } from "./collected-metrics.ts";
import { mergedMetrics } from "./merged-metrics.ts";
import { placeArgument, placeIn } from "./messages.ts";
import { addressOf, workerEnvironment } from "./worker.ts";

function registryOf(worker: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ worker });
  const registers = [registry];
  new Counter({ name: "calls_total", help: "Calls", labelNames: ["reason"] as const, registers }).inc({
    reason: "a",
  });
  new Histogram({ name: "wait_seconds", help: "Waits", buckets: [1], registers }).observe(2);
  return registry;
}

describe("metrics of several workers", () => {
  it("are one text, with each family once and the samples of every worker", async () => {
    const primary = new Registry();
    new Gauge({ name: "ready", help: "Ready", registers: [primary] }).set(2);
    const texts = [primary, registryOf("1"), registryOf("2")].map((registry) => registry.metrics());
    expect(mergedMetrics(await Promise.all(texts))).toBe(`# HELP ready Ready
# TYPE ready gauge
ready 2

# HELP calls_total Calls
# TYPE calls_total counter
calls_total{reason="a",worker="1"} 1
calls_total{reason="a",worker="2"} 1

# HELP wait_seconds Waits
# TYPE wait_seconds histogram
wait_seconds_bucket{le="1",worker="1"} 0
wait_seconds_bucket{le="+Inf",worker="1"} 1
wait_seconds_sum{worker="1"} 2
wait_seconds_count{worker="1"} 1
wait_seconds_bucket{le="1",worker="2"} 0
wait_seconds_bucket{le="+Inf",worker="2"} 1
wait_seconds_sum{worker="2"} 2
wait_seconds_count{worker="2"} 1
`);
  });

  it("are asked for once, whoever asks at the same time", async () => {
    const asked: number[] = [];
    const collected: CollectedMetrics = new CollectedMetrics({
      workers: () =>
        [2, 1].map((number) => ({
          number,
          ask: (request) => {
            asked.push(number);
            queueMicrotask(() =>
              collected.answered(number, request, `# HELP a\na{worker="${String(number)}"} 1\n`),
            );
          },
        })),
      own: () => Promise.resolve(""),
      silent: () => expect.unreachable(),
    });
    const texts = await Promise.all([collected.collect(), collected.collect()]);
    expect(texts).toEqual(Array.from({ length: 2 }, () => '# HELP a\na{worker="1"} 1\na{worker="2"} 1\n'));
    expect(asked).toEqual([2, 1]);
    await collected.collect();
    expect(asked).toEqual([2, 1, 2, 1]);
  });

  it("are complete without a worker that does not answer, or cannot", async () => {
    vi.useFakeTimers();
    try {
      const silent: (readonly number[])[] = [];
      const collected: CollectedMetrics = new CollectedMetrics({
        workers: () =>
          [1, 2, 3].map((number) => ({
            number,
            ask: (request) => {
              if (number === 1) collected.answered(1, request, "# HELP a\na 1\n");
              if (number === 2) collected.answered(2, request, null);
              // An answer to another request, and one of a worker that was not asked.
              collected.answered(3, request + 1, "# HELP b\nb 1\n");
              collected.answered(4, request, "# HELP b\nb 1\n");
            },
          })),
        own: () => Promise.resolve("# HELP own\nown 0\n"),
        silent: (numbers) => silent.push(numbers),
      });
      const text = collected.collect();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await text).toBe("# HELP own\nown 0\n\n# HELP a\na 1\n");
      expect(silent).toEqual([[2, 3]]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a worker", () => {
  it("knows its place by an argument", () => {
    expect(placeIn(["node", "main.ts", placeArgument({ number: 2, count: 16 })])).toEqual({
      number: 2,
      count: 16,
    });
    expect(placeIn(["node", "main.ts", "--worker=a/b"])).toBeNull();
  });

  it("has an address of its own for the other workers", async () => {
    expect((await workerEnvironment({ A: "b" }, 2))["NODE_ADDRESS"]).toMatch(
      /^http:\/\/127\.0\.0\.1:\d{4,5}$/,
    );
    expect((await workerEnvironment({ NODE_ADDRESS: "http://10.0.0.5:8090" }, 3))["NODE_ADDRESS"]).toBe(
      "http://10.0.0.5:8092",
    );
    expect(addressOf("http://[fd00::1]:8090", 1)).toBe("http://[fd00::1]:8090");
    expect(addressOf("not a URL", 2)).toBe("not a URL");
  });
});
