/** A thread that has loaded a model for all calls. It is started again after failures; after many of them with a pause. */

import { THREAD_RESTARTS } from "./restarts.ts";
import { Supervisor, type Limit, type Run } from "./supervisor.ts";

export interface ModelThreadOptions<Handle> {
  /** In sentences, such as "the offline recogniser". */
  readonly name: string;
  readonly start: (run: Run<string>) => Handle;
  /** From start to a loaded model. */
  readonly loadLimit: Limit<string>;
  readonly discard: (handle: Handle) => void;
  /** The run is over, and what it had to do is lost. `unusable`: no other follows soon, for this reason. */
  readonly lost: (reason: string, unusable: string | null) => void;
  /** Gets one sentence for each end and restart of the thread. */
  readonly log: (message: string) => void;
}

export class ModelThread<Handle> {
  readonly #name: string;
  readonly #supervisor: Supervisor<Handle>;
  readonly #loaded = Promise.withResolvers<void>();
  #unusable: string | null = null;
  #isClosed = false;

  constructor(options: ModelThreadOptions<Handle>) {
    const { name, start, loadLimit, discard, lost, log } = options;
    this.#name = name;
    this.#supervisor = new Supervisor<Handle>({
      policy: THREAD_RESTARTS,
      start,
      startLimit: loadLimit,
      ready: () => {
        this.#loaded.resolve();
        if (this.#unusable === null || this.#isClosed) return;
        this.#unusable = null;
        log(`${name} works again`);
      },
      discard,
      ended: ({ reason, isFinished, restartsInMs }) => {
        this.#loaded.reject(new Error(`${name} cannot start: ${reason}`));
        if (isFinished) return;
        if (restartsInMs === 0) log(`${name} starts again after its thread was lost: ${reason}`);
        else {
          this.#unusable = `${name} is gone: ${reason}`;
          const next =
            restartsInMs === null ? "" : `, and is started again in ${String(restartsInMs / 1_000)} s`;
          log(`${name} does not work${next}: ${reason}`);
        }
        lost(reason, this.#unusable);
      },
    });
  }

  /** Why the thread can do nothing now; null while it can. It may recover. */
  readonly unusable = (): string | null => this.#unusable;

  /** The thread, once it has loaded its model. */
  get ready(): Handle | null {
    return this.#supervisor.ready;
  }

  /** The thread, also while it loads. */
  get running(): Handle | null {
    return this.#supervisor.running;
  }

  get hasLimit(): boolean {
    return this.#supervisor.hasLimit;
  }

  /** Resolves when the first thread has loaded its model; rejects when it cannot. */
  load(): Promise<void> {
    this.#supervisor.start();
    return this.#loaded.promise;
  }

  limit(limit: Limit<string>): void {
    this.#supervisor.limit(limit);
  }

  clearLimit(): void {
    this.#supervisor.clearLimit();
  }

  /** See `Supervisor.finish`. */
  finish(ask: (handle: Handle) => void, limit: Limit<string>): Promise<void> {
    this.#close();
    return this.#supervisor.finish(ask, limit);
  }

  /** See `Supervisor.stop`. */
  stop(): Handle | null {
    this.#close();
    return this.#supervisor.stop();
  }

  #close(): void {
    this.#isClosed = true;
    this.#unusable ??= `${this.#name} is closed`;
  }
}
