/** Metrics of the primary process, which starts the workers. */

import { Counter, Gauge, Registry } from "prom-client";

export interface WorkerMetrics {
  readonly registry: Registry;
  restarted(): void;
}

export function workerMetrics(readyWorkers: () => number): WorkerMetrics {
  const registry = new Registry();
  new Gauge({
    name: "parley_workers_ready",
    help: "Workers of this service that take calls; absent where the service is one process",
    registers: [registry],
    collect() {
      this.set(readyWorkers());
    },
  });
  const restarts = new Counter({
    name: "parley_worker_restarts_total",
    help: "Workers of this service that have ended by themselves, and were or will be started again",
    registers: [registry],
  });
  return { registry, restarted: () => restarts.inc() };
}
