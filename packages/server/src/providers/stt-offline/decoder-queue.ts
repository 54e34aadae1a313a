/**
 * Utterances of all calls, one after the other through one thread. What is abandoned while it waits is never decoded;
 * a thread that crashes or hangs costs the utterance it had, and the rest goes on with the next thread.
 */

import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";
import type { FromWorker } from "./protocol.ts";
import type { DecoderThread, StartDecoderThread } from "./decoder-thread.ts";

/** Utterances waiting: at 0.2 to 0.5 s each the last would be answered after half a minute, later than any call waits. */
export const DECODER_QUEUE_UTTERANCES = 64;

/** No phrase of the grammar takes this long; longer speech is something else and would hold up the others. */
export const DECODER_MAX_UTTERANCE_MS = 20_000;

/** The longest utterance takes 6 s on a loaded machine. */
export const DECODER_TIMEOUT_MS = 20_000;

/** From start to a loaded model: 0.6 s here; a minute bounds a cold disk. */
export const DECODER_LOAD_TIMEOUT_MS = 60_000;

/** Starts of a new thread within `DECODER_RESTART_WINDOW_MS`; beyond that the fault is not a passing one. */
export const DECODER_RESTARTS = 3;
export const DECODER_RESTART_WINDOW_MS = 600_000;

interface Job {
  readonly id: number;
  readonly samples: Int16Array;
  readonly outcome: PromiseWithResolvers<string>;
  /** Answered, failed or abandoned: nothing more is to be done for it. */
  isOver: boolean;
}

/** One life of the thread. */
interface Life {
  readonly thread: DecoderThread;
  ready: boolean;
  over: boolean;
  watch: NodeJS.Timeout | null;
}

export class DecoderQueue {
  readonly #start: StartDecoderThread;
  readonly #log: (message: string) => void;
  readonly #opened = Promise.withResolvers<void>();
  #waiting: Job[] = [];
  #running: Job | null = null;
  #life: Life | null = null;
  #nextId = 0;
  readonly #restartsAtMs: number[] = [];
  /** Why nothing can be decoded any more. */
  #unusable: string | null = null;

  constructor(start: StartDecoderThread, log: (message: string) => void) {
    this.#start = start;
    this.#log = log;
  }

  /** Resolves when the first thread has loaded its model; rejects when it cannot. */
  load(): Promise<void> {
    this.#begin();
    return this.#opened.promise;
  }

  /** Takes the samples' memory. Rejects when the queue is full, on a failure, and soon after `signal` aborts. */
  decode(samples: Int16Array, signal: AbortSignal): Promise<string> {
    if (this.#unusable !== null) return Promise.reject(new Error(this.#unusable));
    if (signal.aborted) return Promise.reject(new Error("the utterance was abandoned"));
    if (samples.length > (DECODER_MAX_UTTERANCE_MS * STT_SAMPLE_RATE_HZ) / 1000) return Promise.resolve("");
    if (this.#waiting.length >= DECODER_QUEUE_UTTERANCES) {
      return Promise.reject(new Error("too many utterances are waiting for the offline recogniser"));
    }
    const job: Job = { id: this.#nextId++, samples, outcome: Promise.withResolvers<string>(), isOver: false };
    this.#waiting.push(job);
    const abandon = (): void => {
      this.#waiting = this.#waiting.filter((waiting) => waiting !== job);
      this.#fail(job, "the utterance was abandoned");
    };
    signal.addEventListener("abort", abandon, { once: true });
    this.#pump();
    return job.outcome.promise.finally(() => {
      signal.removeEventListener("abort", abandon);
    });
  }

  async close(): Promise<void> {
    this.#unusable ??= "the offline recogniser is closed";
    this.#failAll("the offline recogniser was closed");
    const life = this.#life;
    if (life === null || life.over) return;
    this.#finish(life);
    await life.thread.end();
  }

  #begin(): void {
    const life: Life = {
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
    this.#watch(life, DECODER_LOAD_TIMEOUT_MS, "its model did not load in time");
  }

  #watch(life: Life, timeoutMs: number, reason: string): void {
    life.watch = setTimeout(() => {
      this.#lose(life, reason);
    }, timeoutMs);
  }

  #unwatch(life: Life): void {
    if (life.watch !== null) clearTimeout(life.watch);
    life.watch = null;
  }

  #finish(life: Life): void {
    life.over = true;
    this.#unwatch(life);
  }

  #pump(): void {
    const life = this.#life;
    if (life === null || life.over || !life.ready || this.#running !== null) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#running = job;
    life.thread.send({ id: job.id, samples: job.samples });
    this.#watch(life, DECODER_TIMEOUT_MS, "it did not answer in time");
  }

  #heard(life: Life, message: FromWorker): void {
    this.#unwatch(life);
    switch (message.type) {
      case "ready":
        life.ready = true;
        this.#opened.resolve();
        break;
      case "unusable":
        this.#lose(life, message.detail);
        return;
      case "decoded":
      case "undecodable":
        this.#answered(message);
    }
    this.#pump();
  }

  #answered(message: Extract<FromWorker, { id: number }>): void {
    const job = this.#running;
    this.#running = null;
    if (job === null || job.id !== message.id || job.isOver) return;
    if (message.type === "undecodable") {
      this.#fail(job, `the offline recogniser failed: ${message.detail}`);
      return;
    }
    job.isOver = true;
    job.outcome.resolve(message.text);
  }

  #lose(life: Life, reason: string): void {
    const hadLoaded = life.ready;
    this.#finish(life);
    life.thread.end().catch((error: unknown) => {
      this.#log(`the offline recogniser's thread did not end: ${String(error)}`);
    });
    this.#opened.reject(new Error(`the offline recogniser cannot start: ${reason}`));
    const nowMs = performance.now();
    while ((this.#restartsAtMs[0] ?? nowMs) < nowMs - DECODER_RESTART_WINDOW_MS) this.#restartsAtMs.shift();
    if (!hadLoaded || this.#restartsAtMs.length >= DECODER_RESTARTS) {
      this.#unusable ??= `the offline recogniser is gone: ${reason}`;
      this.#log(`the offline recogniser is gone for good: ${reason}`);
      this.#failAll(this.#unusable);
      return;
    }
    if (this.#running !== null) this.#fail(this.#running, `the offline recogniser was lost: ${reason}`);
    this.#running = null;
    this.#restartsAtMs.push(nowMs);
    this.#log(`the offline recogniser starts again after its thread was lost: ${reason}`);
    this.#begin();
  }

  #fail(job: Job, reason: string): void {
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
