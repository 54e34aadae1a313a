/** Metrics of the HTTP server for Prometheus. */

import { Counter, Histogram, type Registry } from "prom-client";

/** Seconds; answers take milliseconds, recordings seconds. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function requestDurations(registry: Registry): Histogram<"method" | "route" | "status"> {
  return new Histogram({
    name: "parley_http_request_duration_seconds",
    help: "Time from the first byte of a request to the last of its answer, in seconds.",
    labelNames: ["method", "route", "status"],
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
}

export function joinAttempts(registry: Registry): Counter<"outcome"> {
  return new Counter({
    name: "parley_join_attempts_total",
    help: "Websocket joins by outcome: connected, a problem code, or a close code.",
    labelNames: ["outcome"],
    registers: [registry],
  });
}
