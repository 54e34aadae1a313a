/**
 * Keeps one thread or child process running: bounds its start and whatever it is given to do, starts it again as the
 * policy allows, and ends it within a limit. One run follows the other, and only the present one is listened to.
 */

import { Restarts, type RestartPolicy } from "./restarts.ts";

/** The present run, as the code that starts it reports about it. Everything is ignored once the run is over. */
export interface Run<Reason> {
  readonly isOver: boolean;
  /** It can work. Clears the limit of the start. */
  ready(): void;
  /** It is gone, or unusable. */
  lost(reason: Reason): void;
}

export interface RunEnd<Reason> {
  readonly reason: Reason;
  readonly wasReady: boolean;
  /** It ended because `finish` was called. */
  readonly isFinished: boolean;
  /** Until the next run begins; null: there is none. */
  readonly restartsInMs: number | null;
}

export interface SupervisorOptions<Handle, Reason> {
  readonly policy: RestartPolicy;
  readonly start: (run: Run<Reason>) => Handle;
  /** From the start to ready. */
  readonly startLimit: Limit<Reason>;
  readonly ready?: () => void;
  /** Ends what is left of a run that is over, also when it hangs. Never throws. */
  readonly discard: (handle: Handle) => void;
  /** Called once for each run, after `discard` and before the next run begins. Not called after `stop`. */
  readonly ended: (end: RunEnd<Reason>) => void;
}

export interface Limit<Reason> {
  readonly ms: number;
  /** Why a run that exceeds it is lost. */
  readonly reason: Reason;
}

interface Current<Handle, Reason> extends Run<Reason> {
  handle: Handle | null;
  isOver: boolean;
  isReady: boolean;
}

export class Supervisor<Handle, Reason = string> {
  readonly #options: SupervisorOptions<Handle, Reason>;
  readonly #restarts: Restarts;
  #current: Current<Handle, Reason> | null = null;
  #limit: NodeJS.Timeout | undefined;
  #restart: NodeJS.Timeout | undefined;
  #isStopped = false;
  #finishing: PromiseWithResolvers<void> | null = null;

  constructor(options: SupervisorOptions<Handle, Reason>) {
    this.#options = options;
    this.#restarts = new Restarts(options.policy);
  }

  /** Of the present run; null between runs, and after the last one. */
  get running(): Handle | null {
    return this.#current?.handle ?? null;
  }

  /** The same once the run is ready. */
  get ready(): Handle | null {
    return this.#current?.isReady === true ? this.#current.handle : null;
  }

  get hasLimit(): boolean {
    return this.#limit !== undefined;
  }

  /** Begins a run. Called once. */
  start(): void {
    const { start, startLimit } = this.#options;
    const current: Current<Handle, Reason> = {
      handle: null,
      isOver: false,
      isReady: false,
      ready: () => {
        if (current.isOver) return;
        current.isReady = true;
        this.clearLimit();
        this.#options.ready?.();
      },
      lost: (reason) => {
        this.#end(current, reason);
      },
    };
    this.#current = current;
    this.limit(startLimit);
    current.handle = start(current);
    // It was lost while it started.
    if (current.isOver) this.#options.discard(current.handle);
  }

  /** Loses the present run if this is not cleared or replaced in time. Ignored while it finishes. */
  limit({ ms, reason }: Limit<Reason>): void {
    if (this.#finishing !== null) return;
    const current = this.#current;
    if (current === null) return;
    clearTimeout(this.#limit);
    this.#limit = setTimeout(() => {
      this.#end(current, reason);
    }, ms);
  }

  clearLimit(): void {
    if (this.#finishing !== null) return;
    clearTimeout(this.#limit);
    this.#limit = undefined;
  }

  /** The present run has done its work. */
  succeeded(): void {
    this.#restarts.succeeded();
  }

  /** Loses the present run. */
  lose(reason: Reason): void {
    if (this.#current !== null) this.#end(this.#current, reason);
  }

  /** Asks the present run to end, and resolves when it has, within the limit. No run follows. Idempotent. */
  finish(ask: (handle: Handle) => void, limit: Limit<Reason>): Promise<void> {
    if (this.#finishing !== null) return this.#finishing.promise;
    const handle = this.running;
    this.#isStopped = true;
    clearTimeout(this.#restart);
    if (handle !== null) this.limit(limit);
    this.#finishing = Promise.withResolvers<void>();
    if (handle === null) this.#finishing.resolve();
    else ask(handle);
    return this.#finishing.promise;
  }

  /** No run is listened to, and none begins, from here on. The caller ends what is returned. Idempotent. */
  stop(): Handle | null {
    const handle = this.running;
    this.#isStopped = true;
    if (this.#current !== null) this.#current.isOver = true;
    this.#current = null;
    clearTimeout(this.#limit);
    clearTimeout(this.#restart);
    return handle;
  }

  #end(current: Current<Handle, Reason>, reason: Reason): void {
    if (current.isOver) return;
    current.isOver = true;
    this.#current = null;
    clearTimeout(this.#limit);
    this.#limit = undefined;
    const { discard, ended } = this.#options;
    if (current.handle !== null) discard(current.handle);
    const restartsInMs = this.#isStopped ? null : this.#restarts.waitMs(current.isReady, performance.now());
    ended({ reason, wasReady: current.isReady, isFinished: this.#finishing !== null, restartsInMs });
    this.#finishing?.resolve();
    if (restartsInMs === null || this.#isStopped) return;
    if (restartsInMs === 0) this.start();
    else this.#restart = setTimeout(() => this.start(), restartsInMs);
  }
}
