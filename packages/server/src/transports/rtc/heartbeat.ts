/** Finds out whether a thread still answers, by pings that are counted and not by a clock alone. */

/** From one ping to the next, and the time that a thread has to answer one. */
export const PING_INTERVAL_MS = 1_000;
/** Missed pings after which a thread is given up: 3 s without an answer. A thread answers in some milliseconds. */
export const MAX_MISSED_PINGS = 3;
/**
 * How late the own timer may be. When it is later, this thread was blocked or the process was suspended, and the ping
 * that was under way says nothing about the other thread.
 */
const MAX_OWN_DELAY_MS = 500;

export interface HeartbeatOptions {
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly ping: (pingId: number) => void;
  /** The thread has missed `MAX_MISSED_PINGS` in a row. Called once; nothing is sent afterwards. */
  readonly lost: () => void;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #sentAtMs = 0;
  #lastId = 0;
  #answeredId = 0;
  #missed = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Pings that were missed in a row. */
  get missed(): number {
    return this.#missed;
  }

  start(): void {
    this.#ping();
  }

  /** An answer to an earlier ping shows as well that the thread works. */
  answered(pingId: number): void {
    this.#answeredId = pingId;
    this.#missed = 0;
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
  }

  #ping(): void {
    this.#lastId += 1;
    this.#sentAtMs = this.#options.nowMs();
    this.#options.ping(this.#lastId);
    this.#timer = setTimeout(() => {
      const tookMs = this.#options.nowMs() - this.#sentAtMs;
      const wasDelayed = tookMs > PING_INTERVAL_MS + MAX_OWN_DELAY_MS;
      // Answers that have arrived by now are read before immediates run.
      this.#immediate = setImmediate(() => this.#judge(wasDelayed));
    }, PING_INTERVAL_MS);
  }

  #judge(wasDelayed: boolean): void {
    if (this.#answeredId !== this.#lastId && !wasDelayed) this.#missed += 1;
    if (this.#missed >= MAX_MISSED_PINGS) this.#options.lost();
    else this.#ping();
  }
}
