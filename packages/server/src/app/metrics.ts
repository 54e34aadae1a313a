/** Metrics for Prometheus. Labels never contain ids or text of a call. */

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { ENGINE_KINDS, type EndReason, type EngineKind, type TurnLatency } from "@parley/schema";
import type { WorkerPlace } from "../config/workers/workers.ts";
import type { BatchMetrics } from "../jobs/batches/dispatcher.ts";
import type { SummaryOutcome } from "../jobs/summaries/summarize-call.ts";
import type { DeliveryMetrics } from "../jobs/webhooks/dispatcher.ts";
import type { EngineReport } from "../providers/engine-chain/listed-engine.ts";
import type { UseWatcher } from "./costs/engine-meter.ts";
import { engineUseMetrics } from "./costs/use-metrics.ts";
import type { ListWatcher } from "./deployment/engine-lists.ts";
import { telephonyMetrics, type TelephonyMetrics } from "./telephony/telephony-metrics.ts";
import type { ThreadLossKind } from "../transports/rtc/remote-thread.ts";

/** Seconds; fine around the 200 ms that people leave between turns and the second at which they notice. */
const TURN_BUCKETS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10];

/** Seconds; around the 0.3 s within which half of the events should be delivered, up to the limit of an attempt. */
const DELIVERY_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Null: there are no lists. */
export type EngineReports = () => Readonly<Record<EngineKind, readonly EngineReport[]>> | null;

export interface WebRtcMetrics {
  threadLost(reason: ThreadLossKind): void;
  legFaulty(): void;
}

export interface Metrics {
  readonly registry: Registry;
  readonly deliveries: DeliveryMetrics;
  readonly batches: BatchMetrics;
  readonly webRtc: WebRtcMetrics;
  readonly engineLists: ListWatcher;
  readonly telephony: TelephonyMetrics;
  readonly engineUsed: UseWatcher;
  turnCompleted(latency: TurnLatency): void;
  turnInterrupted(cause: string): void;
  callEnded(reason: EndReason): void;
  engineFailed(type: string): void;
  summaryEnded(outcome: SummaryOutcome): void;
}

/** @param worker set: each sample has its number as the label `worker` */
export function createMetrics(
  liveCalls: () => number,
  engineReports: EngineReports = () => null,
  worker: WorkerPlace | null = null,
): Metrics {
  const registry = new Registry();
  if (worker !== null) registry.setDefaultLabels({ worker: String(worker.number) });
  collectDefaultMetrics({ register: registry, prefix: "parley_" });
  const turn = new Histogram({
    name: "parley_turn_latency_seconds",
    help: "Time from the caller's last sound to each step of the answer",
    labelNames: ["step"] as const,
    buckets: TURN_BUCKETS,
    registers: [registry],
  });
  const interruptions = new Counter({
    name: "parley_turn_interruptions_total",
    help: "Replies that the caller cut off, by cause",
    labelNames: ["cause"] as const,
    registers: [registry],
  });
  const ended = new Counter({
    name: "parley_calls_ended_total",
    help: "Calls that ended, by reason",
    labelNames: ["reason"] as const,
    registers: [registry],
  });
  const failures = new Counter({
    name: "parley_engine_failures_total",
    help: "Failures of recogniser, model and voice during calls, by event type",
    labelNames: ["type"] as const,
    registers: [registry],
  });
  const summaries = new Counter({
    name: "parley_summaries_total",
    help:
      "Calls that this process has summarized, by outcome: written, failed (the model), " +
      "given_up (every attempt was cut off or failed)",
    labelNames: ["outcome"] as const,
    registers: [registry],
  });
  countLiveCalls(registry, liveCalls);
  const observe = (step: string, ms: number | null): void => {
    if (ms !== null) turn.observe({ step }, Math.max(0, ms) / 1000);
  };
  return {
    registry,
    deliveries: deliveryMetrics(registry),
    batches: batchMetrics(registry),
    webRtc: webRtcMetrics(registry),
    engineLists: engineListMetrics(registry, engineReports),
    telephony: telephonyMetrics(registry),
    engineUsed: engineUseMetrics(registry),
    turnCompleted(latency) {
      observe("end_of_turn", latency.endOfTurnMs);
      observe("transcript_final", latency.transcriptFinalMs);
      observe("first_token", latency.firstTokenMs);
      observe("first_sentence", latency.firstSentenceMs);
      observe("first_audio", latency.firstAudioMs);
      observe("first_played", latency.firstPlayedMs);
    },
    turnInterrupted: (cause) => interruptions.inc({ cause }),
    callEnded: (reason) => ended.inc({ reason }),
    engineFailed: (type) => failures.inc({ type }),
    summaryEnded: (outcome) => summaries.inc({ outcome }),
  };
}

function countLiveCalls(registry: Registry, liveCalls: () => number): void {
  new Gauge({
    name: "parley_live_calls",
    help: "Calls from creation to end in this process",
    registers: [registry],
    collect() {
      this.set(liveCalls());
    },
  });
}

function engineListMetrics(registry: Registry, reports: EngineReports): ListWatcher {
  const requests = new Counter({
    name: "parley_engine_requests_total",
    help:
      "Requests to the engines of a list, by engine and outcome: answered, failed, overtaken (dropped by the call, or " +
      "another engine was faster)",
    labelNames: ["kind", "engine", "outcome"] as const,
    registers: [registry],
  });
  new Gauge({
    name: "parley_engine_out",
    help: "Engines of a list: 1 while requests go to the next one, otherwise 0",
    labelNames: ["kind", "engine"] as const,
    registers: [registry],
    collect() {
      this.reset();
      const lists = reports();
      for (const kind of ENGINE_KINDS) {
        for (const { name, isOut } of lists?.[kind] ?? []) this.set({ kind, engine: name }, isOut ? 1 : 0);
      }
    },
  });
  return { used: (kind, engine, outcome) => requests.inc({ kind, engine, outcome }) };
}

function webRtcMetrics(registry: Registry): WebRtcMetrics {
  const registers = [registry];
  const threads = new Counter({
    name: "parley_webrtc_threads_replaced_total",
    help:
      "Threads of WebRTC connections that were lost and are replaced when needed, by reason: stuck (no answer for 3 s), " +
      "memory (a limit was exceeded), failed (it ended by itself), not_ready (not ready within 30 s of its start)",
    labelNames: ["reason"] as const,
    registers,
  });
  const legs = new Counter({
    name: "parley_webrtc_faulty_connections_total",
    help: "WebRTC connections that were ended because their client broke a protocol five times",
    registers,
  });
  return {
    threadLost: (reason) => threads.inc({ reason }),
    legFaulty: () => legs.inc(),
  };
}

function batchMetrics(registry: Registry): BatchMetrics {
  const registers = [registry];
  const ended = new Counter({
    name: "parley_scheduled_calls_total",
    help:
      "Scheduled calls that this process worked on, by outcome: success, error, put_off (until its hour or next attempt), " +
      "later (a limit was reached), lost (to another process), expired",
    labelNames: ["outcome"] as const,
    registers,
  });
  const underWay = new Gauge({
    name: "parley_scheduled_calls_under_way",
    help: "Scheduled calls that this process is creating",
    registers,
  });
  return {
    ended: (outcome) => ended.inc({ outcome }),
    expired: (count) => ended.inc({ outcome: "expired" }, count),
    underWay: (count) => underWay.set(count),
  };
}

function deliveryMetrics(registry: Registry): DeliveryMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: "parley_webhook_attempts_total",
    help: "Attempts to deliver to webhooks and callbacks, by outcome: delivered, retry, failed (given up), cut_off",
    labelNames: ["outcome"] as const,
    registers,
  });
  const durations = new Histogram({
    name: "parley_webhook_attempt_seconds",
    help: "How long receivers took to answer, or attempts to fail",
    buckets: DELIVERY_BUCKETS,
    registers,
  });
  const delays = new Histogram({
    name: "parley_webhook_delay_seconds",
    help: "Time from an event to its first attempt",
    buckets: DELIVERY_BUCKETS,
    registers,
  });
  const pending = new Gauge({
    name: "parley_webhook_pending",
    help: "Deliveries that wait for an attempt, of all processes on the database; counted every 10 s, up to 100000",
    registers,
  });
  return {
    attempted(outcome, durationMs) {
      attempts.inc({ outcome });
      durations.observe(durationMs / 1000);
    },
    firstAttempt: (delayMs) => delays.observe(delayMs / 1000),
    pending: (count) => pending.set(count),
  };
}
