/** Batches of ended spans for an exporter, with a limit that counts what it drops. */

import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from "@opentelemetry/sdk-trace";
import type { Losses } from "./losses.ts";

/**
 * Limit of ended spans that wait for the collector or are on their way: a full process (1,000 calls, a turn of 8 spans
 * every 6 s each) ends so many in six seconds, and they take some 10 MB. More are dropped.
 */
const QUEUE_LIMIT = 8_192;
const BATCH_LIMIT = 512;
const SEND_EVERY_MS = 5_000;
/** Limit of one batch, its retries included, so that a collector that is down does not delay the shutdown. */
export const EXPORT_LIMIT_MS = 3_000;
/** The exporter reports by itself within its own limit. */
const SLACK_MS = 1_000;

export class BoundedProcessor implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #losses: Losses;
  readonly #limit: number;
  /** Ended spans that the collector has neither taken nor refused. */
  waiting = 0;

  /** @param limit of spans that wait; tests set a small one */
  constructor(exporter: SpanExporter, losses: Losses, limit = QUEUE_LIMIT) {
    this.#losses = losses;
    this.#limit = limit;
    this.#batches = new BatchSpanProcessor({
      exporter: this.#counting(exporter),
      // The limit here is reached first.
      maxQueueSize: limit,
      maxExportBatchSize: Math.min(BATCH_LIMIT, limit),
      scheduledDelayMillis: SEND_EVERY_MS,
      exportTimeoutMillis: EXPORT_LIMIT_MS + SLACK_MS,
    });
  }

  onStart(): void {
    // Only ended spans are sent.
  }

  onEnd(...[span]: Parameters<SpanProcessor["onEnd"]>): void {
    if (this.waiting >= this.#limit) {
      this.#losses.add(1, `${String(this.#limit)} spans are waiting already`);
      return;
    }
    this.waiting += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #counting(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) => {
        exporter.export(spans, (result) => {
          this.waiting -= spans.length;
          if (result.error !== undefined) this.#losses.add(spans.length, result.error.message);
          // A failure is told above; the library would log it again.
          done({ code: 0 });
        });
      },
      forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
      shutdown: () => exporter.shutdown(),
    };
  }
}
