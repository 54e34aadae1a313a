/**
 * Requests of all calls, one after the other through one worker thread. What is abandoned while it waits is never
 * worked on; a thread that crashes or hangs costs the request it had, and the rest goes on with the next thread.
 */

export interface ThreadQueueOptions {
  /** In sentences, such as "the offline recogniser". */
  readonly name: string;
  /** What a request is called: "the utterance was abandoned", "too many utterances are waiting". */
  readonly request: string;
  /** Requests waiting behind the one under way. */
  readonly waiting: number;
  /** From start to a loaded model. */
  readonly loadTimeoutMs: number;
  /** After so long without an answer the thread is taken for lost. */
  readonly answerTimeoutMs: number;
  /** Told of a thread's end and restart, one sentence each. */
  readonly log: (message: string) => void;
}

/** Starts of a new thread within `THREAD_RESTART_WINDOW_MS`; beyond that the fault is not a passing one. */
export const THREAD_RESTARTS = 3;
export const THREAD_RESTART_WINDOW_MS = 600_000;

export type FromThread<Answer> =
  | { readonly type: "ready" }
  | { readonly type: "unusable"; readonly detail: string }
  | { readonly type: "answered"; readonly id: number; readonly answer: Answer }
  | { readonly type: "failed"; readonly id: number; readonly detail: string };

export interface QueueThreadListener<Answer> {
  heard(message: FromThread<Answer>): void;
  /** The thread is gone, for the reason given. Not called after `end`. */
  ended(reason: string): void;
}

export interface QueueThread<Request> {
  send(id: number, request: Request): void;
  /** Ends it, also in the middle of whatever it does; resolves when nothing more is to be waited for. */
  end(): Promise<void>;
}

/** The worker thread as the queue sees it; tests put a scripted one in its place. */
export type StartQueueThread<Request, Answer> = (
  listener: QueueThreadListener<Answer>,
) => QueueThread<Request>;

interface Job<Request, Answer> {
  readonly id: number;
  readonly request: Request;
  readonly outcome: PromiseWithResolvers<Answer>;
  /** Answered, failed or abandoned: nothing more is to be done for it. */
  isOver: boolean;
}

/** One life of the thread. */
interface Life<Request> {
  readonly thread: QueueThread<Request>;
  ready: boolean;
  over: boolean;
  watch: NodeJS.Timeout | null;
}

export class ThreadQueue<Request, Answer> {
  readonly #start: StartQueueThread<Request, Answer>;
  readonly #options: ThreadQueueOptions;
  readonly #opened = Promise.withResolvers<void>();
  #waiting: Job<Request, Answer>[] = [];
  #running: Job<Request, Answer> | null = null;
  #life: Life<Request> | null = null;
  #nextId = 0;
  readonly #restartsAtMs: number[] = [];
  /** Why nothing can be asked any more. */
  #unusable: string | null = null;

  constructor(start: StartQueueThread<Request, Answer>, options: ThreadQueueOptions) {
    this.#start = start;
    this.#options = options;
  }

  /** Why nothing can be asked any more; null while it can. */
  readonly unusable = (): string | null => this.#unusable;

  /** Resolves when the first thread has loaded its model; rejects when it cannot. */
  load(): Promise<void> {
    this.#begin();
    return this.#opened.promise;
  }

  /** Takes over the request's memory. Rejects when the queue is full, on a failure, and soon after `signal` aborts. */
  ask(request: Request, signal: AbortSignal): Promise<Answer> {
    const { name, request: noun } = this.#options;
    if (this.#unusable !== null) return Promise.reject(new Error(this.#unusable));
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
    const { name } = this.#options;
    this.#unusable ??= `${name} is closed`;
    this.#failAll(`${name} was closed`);
    const life = this.#life;
    if (life === null || life.over) return;
    this.#finish(life);
    await life.thread.end();
  }

  #begin(): void {
    const life: Life<Request> = {
      thread: this.#start({
        heard: (message) => {
          if (!life.over) this.#heard(life, message);
        },
        ended: (reason) => {
          if (!life.over) this.#lose(life, reason);
        },
      }),
      ready: false,
      over: false,
      watch: null,
    };
    this.#life = life;
    this.#watch(life, this.#options.loadTimeoutMs, "its model did not load in time");
  }

  #watch(life: Life<Request>, timeoutMs: number, reason: string): void {
    life.watch = setTimeout(() => {
      this.#lose(life, reason);
    }, timeoutMs);
  }

  #unwatch(life: Life<Request>): void {
    if (life.watch !== null) clearTimeout(life.watch);
    life.watch = null;
  }

  #finish(life: Life<Request>): void {
    life.over = true;
    this.#unwatch(life);
  }

  #pump(): void {
    const life = this.#life;
    if (life === null || life.over || !life.ready || this.#running !== null) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#running = job;
    life.thread.send(job.id, job.request);
    this.#watch(life, this.#options.answerTimeoutMs, "it did not answer in time");
  }

  #heard(life: Life<Request>, message: FromThread<Answer>): void {
    this.#unwatch(life);
    switch (message.type) {
      case "ready":
        life.ready = true;
        this.#opened.resolve();
        break;
      case "unusable":
        this.#lose(life, message.detail);
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

  #lose(life: Life<Request>, reason: string): void {
    const { name, log } = this.#options;
    const hadLoaded = life.ready;
    this.#finish(life);
    life.thread.end().catch((error: unknown) => {
      log(`the thread of ${name} did not end: ${String(error)}`);
    });
    this.#opened.reject(new Error(`${name} cannot start: ${reason}`));
    const nowMs = performance.now();
    while ((this.#restartsAtMs[0] ?? nowMs) < nowMs - THREAD_RESTART_WINDOW_MS) this.#restartsAtMs.shift();
    if (!hadLoaded || this.#restartsAtMs.length >= THREAD_RESTARTS) {
      this.#unusable ??= `${name} is gone: ${reason}`;
      log(`${name} is gone for good: ${reason}`);
      this.#failAll(this.#unusable);
      return;
    }
    if (this.#running !== null) this.#fail(this.#running, `${name} was lost: ${reason}`);
    this.#running = null;
    this.#restartsAtMs.push(nowMs);
    log(`${name} starts again after its thread was lost: ${reason}`);
    this.#begin();
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
