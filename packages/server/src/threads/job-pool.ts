/**
 * Runs work that could hold up the main thread in a few threads, which start when the first work comes. An account has
 * one job running at a time, and a job that exceeds its limit is ended with its thread, which is started again.
 */

import { BusyError } from "../pacing/busy.ts";
import { FairQueue } from "./fair-queue.ts";
import type { FromJobThread } from "./job-protocol.ts";
import type { JobThread, StartJobThread } from "./job-thread.ts";
import type { RestartPolicy } from "./restarts.ts";
import { type Limit, type Run, Supervisor } from "./supervisor.ts";

/** One account occupies one of them, so that others still have the second. */
const MAX_THREADS = 2;
/** Jobs that wait: of real ones, which take 1 to 5 ms, those of half a second. */
const MAX_WAITING = 256;
/** A request for a call checks the schemas of up to 40 tools, one after the other, so one request needs one place. */
const MAX_WAITING_OF_ACCOUNT = 32;
/** A job that has waited for this long is refused. */
const MAX_WAIT_MS = 5_000;
/** Whoever is refused tries again after this time. */
const RETRY_AFTER_MS = 2_000;
/** From start to ready, 0.1 s here; and to load the module of a job, 0.3 s. A minute allows for a cold disk. */
const LOAD_LIMIT_MS = 60_000;

/** Bad input must not stop the checks of all accounts, so a lost thread is always followed by another. */
const POLICY: RestartPolicy = {
  restarts: Infinity,
  windowMs: 0,
  backoff: { firstMs: 50, longestMs: 5_000 },
  afterFailedStart: true,
};

export interface Job {
  readonly accountId: string;
  /** A `JobModule`. */
  readonly module: URL;
  /** Copied to the thread. */
  readonly input: unknown;
  /** Limit of its run. Loading the module does not count. */
  readonly limitMs: number;
}

/** The job exceeded its limit, or its thread was lost with it, for example for want of memory. */
export class JobLostError extends Error {
  override readonly name = "JobLostError";
}

interface Waiting extends Job {
  readonly id: number;
  readonly outcome: PromiseWithResolvers<unknown>;
  timer: NodeJS.Timeout | undefined;
}

interface Place {
  readonly supervisor: Supervisor<JobThread>;
  running: Waiting | null;
}

export interface JobPoolOptions {
  readonly start: StartJobThread;
  /** Called with one sentence when a thread is lost other than by the limit of a job. */
  readonly log: (message: string) => void;
}

export class JobPool {
  readonly #options: JobPoolOptions;
  readonly #places: Place[] = [];
  readonly #queue = new FairQueue<Waiting>({
    waiting: MAX_WAITING,
    waitingOfAccount: MAX_WAITING_OF_ACCOUNT,
  });
  #nextId = 0;
  #isClosed = false;
  #startFailure: string | null = null;

  constructor(options: JobPoolOptions) {
    this.#options = options;
  }

  /** What its module returned. Rejects with `BusyError`, with `JobLostError`, and when the module throws. */
  readonly run = async (job: Job): Promise<unknown> => {
    if (this.#isClosed) throw new Error("the threads for checks are closed");
    const waiting: Waiting = {
      ...job,
      id: this.#nextId++,
      outcome: Promise.withResolvers<unknown>(),
      timer: undefined,
    };
    if (!this.#queue.add(waiting)) throw busy();
    waiting.timer = setTimeout(() => {
      this.#queue.remove(waiting);
      waiting.outcome.reject(busy());
    }, MAX_WAIT_MS);
    this.#pump();
    return waiting.outcome.promise;
  };

  /** Why jobs may have to wait for long; null while the threads start as they should. */
  readonly degraded = (): string | null => this.#startFailure;

  async close(): Promise<void> {
    this.#isClosed = true;
    const closed = new Error("the threads for checks were closed");
    for (const waiting of this.#queue.removeAll()) {
      clearTimeout(waiting.timer);
      waiting.outcome.reject(closed);
    }
    const threads = this.#places.map((place) => {
      place.running?.outcome.reject(closed);
      place.running = null;
      return place.supervisor.stop();
    });
    await Promise.all(threads.map(async (thread) => thread?.end()));
  }

  #pump(): void {
    for (const place of this.#places) {
      const thread = place.supervisor.ready;
      if (thread === null || place.running !== null) continue;
      const job = this.#queue.take();
      if (job === null) return;
      clearTimeout(job.timer);
      place.running = job;
      place.supervisor.limit({ ms: LOAD_LIMIT_MS, reason: "the module of a job did not load in time" });
      thread.send({ id: job.id, module: job.module.href, input: job.input });
    }
    const isStarting = this.#places.some(({ supervisor }) => supervisor.ready === null);
    if (this.#queue.hasNext && !isStarting && this.#places.length < MAX_THREADS) this.#open();
  }

  #open(): void {
    const place: Place = {
      running: null,
      supervisor: new Supervisor<JobThread>({
        policy: POLICY,
        start: (run) =>
          this.#options.start({
            heard: (message) => {
              if (!run.isOver) this.#heard(place, run, message);
            },
            ended: (reason) => run.lost(reason),
          }),
        startLimit: { ms: LOAD_LIMIT_MS, reason: "it did not start in time" },
        discard: (thread) => {
          thread.end().catch((error: unknown) => {
            this.#options.log(`a thread for checks did not end: ${String(error)}`);
          });
        },
        ended: ({ reason, wasReady }) => this.#lost(place, reason, wasReady),
      }),
    };
    this.#places.push(place);
    place.supervisor.start();
  }

  #heard(place: Place, run: Run<string>, message: FromJobThread): void {
    if (message.type === "ready") {
      this.#startFailure = null;
      run.ready();
      this.#pump();
      return;
    }
    const job = place.running;
    if (job === null || job.id !== message.id) return;
    if (message.type === "began") {
      place.supervisor.limit(limitOf(job));
      return;
    }
    place.supervisor.clearLimit();
    place.supervisor.succeeded();
    this.#release(place, job);
    if (message.type === "done") job.outcome.resolve(message.output);
    else job.outcome.reject(new Error(`a check failed: ${message.detail}`));
    this.#pump();
  }

  #lost(place: Place, reason: string, wasReady: boolean): void {
    const job = place.running;
    if (!wasReady) this.#startFailure = `the threads for checks do not start: ${reason}`;
    if (job === null || reason !== limitOf(job).reason)
      this.#options.log(`a thread for checks was lost: ${reason}`);
    if (job === null) return;
    this.#release(place, job);
    job.outcome.reject(new JobLostError(reason));
    // The other thread may take what this account has waiting.
    this.#pump();
  }

  #release(place: Place, job: Waiting): void {
    place.running = null;
    this.#queue.done(job.accountId);
  }
}

function limitOf({ limitMs }: Job): Limit<string> {
  return { ms: limitMs, reason: `a job took longer than ${String(limitMs)} ms` };
}

function busy(): BusyError {
  return new BusyError("Too many checks are waiting; try again shortly.", RETRY_AFTER_MS);
}
