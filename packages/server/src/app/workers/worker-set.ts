/** Starts the workers of a service, starts lost ones again, and ends them. */

import type { Worker } from "node:cluster";
import type { Logger } from "pino";
import { Supervisor, type RunEnd } from "../../threads/supervisor.ts";
import type { RestartPolicy } from "../../threads/restarts.ts";
import { messageOf } from "../../pacing/error-text.ts";
import { CollectedMetrics } from "./collected-metrics.ts";
import type { Served, ToPrimary, ToWorker } from "./messages.ts";
import { workerMetrics } from "./worker-metrics.ts";

/**
 * A worker that crashes is back within a second or two. One that crashes again and again is tried once a minute: the
 * others go on, and each attempt takes a core for seconds.
 */
const RESTARTS: RestartPolicy = {
  restarts: 6,
  windowMs: 600_000,
  pauseMs: 60_000,
  backoff: { firstMs: 500, longestMs: 30_000 },
  afterFailedStart: true,
};
/** A worker that has served for so long has recovered: its next wait is the first again. */
const RECOVERED_AFTER_MS = 60_000;
/** A start takes seconds; with a migration of a large database, minutes. */
const START_LIMIT_MS = 3_600_000;
/** Beyond the time in which calls may end: for the last requests, uploads and the database. */
const STOP_MARGIN_MS = 60_000;

export interface WorkerSetDeps {
  readonly count: number;
  readonly drainTimeoutMs: number;
  readonly fork: (number: number) => Worker;
  readonly logger: Logger;
}

interface Running {
  readonly worker: Worker;
}

export class WorkerSet {
  readonly #deps: WorkerSetDeps;
  readonly #supervisors = new Map<number, Supervisor<Running>>();
  readonly #metrics = workerMetrics(() => this.#ready().length);
  readonly #collected: CollectedMetrics;
  /** Until all workers have been ready once. */
  #firstStart: { readonly waiting: Set<number>; readonly over: PromiseWithResolvers<boolean> } | null = null;
  #served: Served | null = null;
  #stopping: Promise<void> | null = null;

  constructor(deps: WorkerSetDeps) {
    this.#deps = deps;
    this.#collected = new CollectedMetrics({
      workers: () =>
        this.#ready().map(([number, { worker }]) => ({
          number,
          ask: (request) => send(worker, { kind: "readMetrics", request }),
        })),
      own: () => this.#metrics.registry.metrics(),
      silent: (numbers) =>
        deps.logger.warn({ workers: numbers }, "workers have not answered with their metrics"),
    });
  }

  /**
   * The first worker starts alone: it migrates the database and makes the first key. Resolves when all are ready. Null:
   * one of them cannot start, and has said why.
   */
  async start(): Promise<Served | null> {
    const { count } = this.#deps;
    const others = Array.from({ length: count - 1 }, (_, index) => index + 2);
    if (!(await this.#startFirst([1])) || !(await this.#startFirst(others))) return null;
    return this.#served;
  }

  /** Lets the calls of all workers end, and resolves when no worker is left. Idempotent. */
  stop(): Promise<void> {
    this.#firstStart?.over.resolve(false);
    const limit = { ms: this.#deps.drainTimeoutMs + STOP_MARGIN_MS, reason: "it did not stop in time" };
    const ask = ({ worker }: Running): void => send(worker, { kind: "stop" });
    this.#stopping ??= Promise.all(
      [...this.#supervisors.values()].map((supervisor) => supervisor.finish(ask, limit)),
    ).then(() => undefined);
    return this.#stopping;
  }

  /** Ends all workers at once, with their calls. */
  kill(): void {
    for (const supervisor of this.#supervisors.values()) supervisor.running?.worker.process.kill("SIGKILL");
  }

  #ready(): [number, Running][] {
    return [...this.#supervisors].flatMap(([number, { ready }]): [number, Running][] =>
      ready === null ? [] : [[number, ready]],
    );
  }

  async #startFirst(numbers: readonly number[]): Promise<boolean> {
    if (this.#stopping !== null) return false;
    if (numbers.length === 0) return true;
    const over = Promise.withResolvers<boolean>();
    this.#firstStart = { waiting: new Set(numbers), over };
    for (const number of numbers) this.#supervise(number);
    const isReady = await over.promise;
    this.#firstStart = null;
    return isReady;
  }

  #supervise(number: number): void {
    const supervisor: Supervisor<Running> = new Supervisor<Running>({
      policy: RESTARTS,
      startLimit: { ms: START_LIMIT_MS, reason: "it was not ready in time" },
      start: (run) => {
        const worker = this.#deps.fork(number);
        worker.on("message", (message: ToPrimary) =>
          this.#received(number, worker, () => run.ready(), message),
        );
        worker.once("exit", (code, signal) => run.lost(signal ?? `exit code ${String(code)}`));
        worker.once("error", (error) => run.lost(messageOf(error)));
        return { worker };
      },
      ready: () => this.#becameReady(number, supervisor),
      discard: ({ worker }) => void worker.process.kill("SIGKILL"),
      ended: (end) => this.#ended(number, end),
    });
    this.#supervisors.set(number, supervisor);
    supervisor.start();
  }

  #received(number: number, worker: Worker, ready: () => void, message: ToPrimary): void {
    if (message.kind === "ready") {
      // The key that the first one has made is printed once all are ready.
      this.#served ??= message.served;
      ready();
    } else if (message.kind === "metrics") {
      this.#collected.answered(number, message.request, message.text);
    } else {
      const { request } = message;
      void this.#collected
        .collect()
        .then((text) => send(worker, { kind: "allMetrics", request, text }))
        .catch((error: unknown) =>
          this.#deps.logger.error({ error: messageOf(error) }, "the metrics could not be collected"),
        );
    }
  }

  #becameReady(number: number, supervisor: Supervisor<Running>): void {
    const { running } = supervisor;
    setTimeout(() => {
      if (supervisor.ready !== null && supervisor.ready === running) supervisor.succeeded();
    }, RECOVERED_AFTER_MS).unref();
    const waiting = this.#firstStart?.waiting;
    waiting?.delete(number);
    if (waiting?.size === 0) this.#firstStart?.over.resolve(true);
  }

  #ended(number: number, { reason, wasReady, isFinished, restartsInMs }: RunEnd<string>): void {
    if (isFinished) return;
    if (!wasReady && this.#firstStart?.waiting.has(number) === true) {
      // It has said why on its own. Whoever starts the service must see that it does not start.
      this.#firstStart.over.resolve(false);
      return;
    }
    this.#metrics.restarted();
    this.#deps.logger.error(
      { worker: number, reason, restartsInMs },
      "a worker has ended and is started again",
    );
  }
}

function send(worker: Worker, message: ToWorker): void {
  // A worker that has ended meanwhile says so by its exit.
  if (worker.isConnected()) worker.send(message, () => undefined);
}
