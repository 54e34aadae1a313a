/** Whether what was lost is started again, and when. Pure. */

import { backoffMs, type Backoff } from "../pacing/backoff.ts";

export interface RestartPolicy {
  /** Restarts within `windowMs`. 0 and no pause: never started again. */
  readonly restarts: number;
  readonly windowMs: number;
  /** The wait after more failures than that, and after each failure that follows. Absent: they are permanent. */
  readonly pauseMs?: number;
  /** The wait before a restart; it grows with each run that achieved nothing. Null: started again at once. */
  readonly backoff: Backoff | null;
  /** Whether another run follows where none has ever become ready. */
  readonly afterFailedStart: boolean;
}

export const NEVER: RestartPolicy = {
  restarts: 0,
  windowMs: 0,
  backoff: null,
  afterFailedStart: false,
};

/**
 * For threads that load a model: one that cannot load it when the service starts will not load it the next time either.
 * Later it was there, and may be again, for example when there is memory.
 */
export const THREAD_RESTARTS: RestartPolicy = {
  restarts: 3,
  windowMs: 600_000,
  pauseMs: 60_000,
  backoff: null,
  afterFailedStart: false,
};

export class Restarts {
  readonly #policy: RestartPolicy;
  readonly #startedAtMs: number[] = [];
  #failures = 0;
  #wasEverReady = false;

  constructor(policy: RestartPolicy) {
    this.#policy = policy;
  }

  /** Until the next start; null: there is none. */
  waitMs(wasReady: boolean, nowMs: number): number | null {
    const { restarts, windowMs, pauseMs = null, backoff, afterFailedStart } = this.#policy;
    this.#wasEverReady ||= wasReady;
    if (!wasReady && !afterFailedStart) return this.#wasEverReady ? pauseMs : null;
    while ((this.#startedAtMs[0] ?? nowMs) < nowMs - windowMs) this.#startedAtMs.shift();
    if (this.#startedAtMs.length >= restarts) return pauseMs;
    this.#startedAtMs.push(nowMs);
    const waitMs = backoff === null ? 0 : backoffMs(backoff, this.#failures);
    this.#failures += 1;
    return waitMs;
  }

  /** The present run has done its work: the next wait is the first again. */
  succeeded(): void {
    this.#failures = 0;
  }
}
