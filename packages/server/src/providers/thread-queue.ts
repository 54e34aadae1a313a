/**
 * Runs requests of all calls one after the other in one worker thread. A request that is abandoned while it waits is
 * never run. A thread that crashes or hangs fails only its current request; the queue continues with the next thread.
 */

import { ModelThread } from "../threads/model-thread.ts";
import type { Run } from "../threads/supervisor.ts";

export interface ThreadQueueOptions {
  /** The name in sentences, such as "the offline recogniser". */
  readonly name: string;
  /** The noun for a request: "the utterance was abandoned", "too many utterances are waiting". */
  readonly request: string;
  /** Limit of requests that wait behind the running one. */
  readonly waiting: number;
  /** Limit of the time from start to a loaded model. */
  readonly loadTimeoutMs: number;
  /** A thread that has not answered for this long counts as lost. */
  readonly answerTimeoutMs: number;
  /** Called with one sentence at the end and at the restart of a thread. */
  readonly log: (message: string) => void;
}

export type FromThread<Answer> =
  | { readonly type: "ready" }
  | { readonly type: "unusable"; readonly detail: string }
  | { readonly type: "answered"; readonly id: number; readonly answer: Answer }
  | { readonly type: "failed"; readonly id: number; readonly detail: string };

export interface QueueThreadListener<Answer> {
  heard(message: FromThread<Answer>): void;
  /** The thread has ended, for the given reason. */
  ended(reason: string): void;
}

export interface QueueThread<Request> {
  send(id: number, request: Request): void;
  /** Ends the thread, even while it is working. Resolves when there is nothing more to wait for. */
  end(): Promise<void>;
}

/** The worker thread as the queue sees it; tests replace it by a scripted one. */
export type StartQueueThread<Request, Answer> = (
  listener: QueueThreadListener<Answer>,
) => QueueThread<Request>;

interface Job<Request, Answer> {
  readonly id: number;
  readonly request: Request;
  readonly outcome: PromiseWithResolvers<Answer>;
  /** True once it is answered, failed or abandoned. */
  isOver: boolean;
}

export class ThreadQueue<Request, Answer> {
  readonly #options: ThreadQueueOptions;
  readonly #thread: ModelThread<QueueThread<Request>>;
  #waiting: Job<Request, Answer>[] = [];
  #running: Job<Request, Answer> | null = null;
  #nextId = 0;
  /** Why no request is accepted now; null while requests are accepted. */
  readonly unusable: () => string | null;

  constructor(start: StartQueueThread<Request, Answer>, options: ThreadQueueOptions) {
    const { name, log, loadTimeoutMs } = options;
    this.#options = options;
    this.#thread = new ModelThread<QueueThread<Request>>({
      name,
      start: (run) =>
        start({
          heard: (message) => {
            if (!run.isOver) this.#heard(run, message);
          },
          ended: (reason) => run.lost(reason),
        }),
      loadLimit: { ms: loadTimeoutMs, reason: "its model did not load in time" },
      discard: (thread) => {
        thread.end().catch((error: unknown) => {
          log(`the thread of ${name} did not end: ${String(error)}`);
        });
      },
      lost: (reason, unusable) => this.#lost(reason, unusable),
      log,
    });
    this.unusable = this.#thread.unusable;
  }

  /** Resolves when the first thread has loaded its model; rejects when it cannot. */
  load(): Promise<void> {
    return this.#thread.load();
  }

  /**
   * Transfers the memory of the request. Rejects when the queue is full, on a failure, and soon after `signal` aborts.
   */
  ask(request: Request, signal: AbortSignal): Promise<Answer> {
    const { name, request: noun } = this.#options;
    const unusable = this.unusable();
    if (unusable !== null) return Promise.reject(new Error(unusable));
    if (signal.aborted) return Promise.reject(new Error(`the ${noun} was abandoned`));
    if (this.#waiting.length >= this.#options.waiting) {
      return Promise.reject(new Error(`too many ${noun}s are waiting for ${name}`));
    }
    const outcome = Promise.withResolvers<Answer>();
    const job: Job<Request, Answer> = { id: this.#nextId++, request, outcome, isOver: false };
    this.#waiting.push(job);
    const abandon = (): void => {
      this.#waiting = this.#waiting.filter((waiting) => waiting !== job);
      this.#fail(job, `the ${noun} was abandoned`);
    };
    signal.addEventListener("abort", abandon, { once: true });
    this.#pump();
    return job.outcome.promise.finally(() => {
      signal.removeEventListener("abort", abandon);
    });
  }

  async close(): Promise<void> {
    const thread = this.#thread.stop();
    this.#failAll(`${this.#options.name} was closed`);
    await thread?.end();
  }

  #pump(): void {
    const thread = this.#thread.ready;
    if (thread === null || this.#running !== null) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#running = job;
    thread.send(job.id, job.request);
    this.#thread.limit({ ms: this.#options.answerTimeoutMs, reason: "it did not answer in time" });
  }

  #heard(run: Run<string>, message: FromThread<Answer>): void {
    this.#thread.clearLimit();
    switch (message.type) {
      case "ready":
        run.ready();
        break;
      case "unusable":
        run.lost(message.detail);
        return;
      case "answered":
      case "failed":
        this.#answered(message);
    }
    this.#pump();
  }

  #answered(message: Extract<FromThread<Answer>, { id: number }>): void {
    const job = this.#running;
    this.#running = null;
    if (job === null || job.id !== message.id || job.isOver) return;
    if (message.type === "failed") {
      this.#fail(job, `${this.#options.name} failed: ${message.detail}`);
      return;
    }
    job.isOver = true;
    job.outcome.resolve(message.answer);
  }

  #lost(reason: string, unusable: string | null): void {
    if (unusable !== null) {
      this.#failAll(unusable);
      return;
    }
    if (this.#running !== null) this.#fail(this.#running, `${this.#options.name} was lost: ${reason}`);
    this.#running = null;
  }

  #fail(job: Job<Request, Answer>, reason: string): void {
    if (job.isOver) return;
    job.isOver = true;
    job.outcome.reject(new Error(reason));
  }

  #failAll(reason: string): void {
    if (this.#running !== null) this.#fail(this.#running, reason);
    this.#running = null;
    for (const job of this.#waiting.splice(0)) this.#fail(job, reason);
  }
}
