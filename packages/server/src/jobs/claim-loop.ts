/**
 * The two loops of a dispatcher. `ClaimLoop` is a coalescing poller: however often it is woken, one claim runs at a
 * time. `WriteLoop` stores outcomes, one write at a time. Both use the monotonic clock, so that setting the system
 * clock does not stop them.
 */

import { setTimeout as sleep } from "node:timers/promises";

export interface ClaimLoopOptions {
  /** Claims as much as there is capacity for; calls `wake` where there may be more. Never rejects. */
  readonly claim: () => Promise<void>;
  /** Minimum time between the starts of two claims. */
  readonly intervalMs: number;
}

/** Claims once after any number of wakes. *new* until `open`, then *open*; *closed* for good after `close`. */
export class ClaimLoop {
  readonly #options: ClaimLoopOptions;
  #state: "new" | "open" | "closed" = "new";
  #claiming: Promise<void> | null = null;
  #wanted = false;
  #notBeforeMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: ClaimLoopOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** False: it was open before. */
  open(): boolean {
    if (this.#state !== "new") return false;
    this.#state = "open";
    return true;
  }

  wake(): void {
    this.#wanted = true;
    this.#claimSoon();
  }

  /** Delays the next claim by at least this. */
  holdBack(waitMs: number): void {
    this.#notBeforeMs = Math.max(this.#notBeforeMs, performance.now() + waitMs);
  }

  /** Resolves when no claim is under way; there will be no other. */
  async close(): Promise<void> {
    this.#state = "closed";
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#claiming;
  }

  #claimSoon(): void {
    if (!this.isOpen || !this.#wanted || this.#claiming !== null || this.#timer !== null) return;
    const { claim, intervalMs } = this.#options;
    const waitMs = Math.max(0, this.#notBeforeMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (!this.isOpen) return;
      this.#wanted = false;
      this.#notBeforeMs = performance.now() + intervalMs;
      this.#claiming = claim().finally(() => {
        this.#claiming = null;
        this.#claimSoon();
      });
    }, waitMs);
    this.#timer.unref();
  }
}

export interface WriteLoopOptions {
  readonly hasMore: () => boolean;
  /** Writes until nothing is left. Never rejects. */
  readonly write: () => Promise<void>;
}

/** Runs one write at a time. */
export class WriteLoop {
  readonly #options: WriteLoopOptions;
  #writing: Promise<void> | null = null;

  constructor(options: WriteLoopOptions) {
    this.#options = options;
  }

  /** There may be something to write. */
  soon(): void {
    if (this.#writing !== null || !this.#options.hasMore()) return;
    this.#writing = this.#options.write().finally(() => {
      this.#writing = null;
      // More may have arrived since the last check.
      this.soon();
    });
  }

  /** Resolves when everything is written. */
  async settle(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }
}

/**
 * How long the write of outcomes is retried. A database that restarts is back within some seconds. After this the
 * leases have expired, and other processes settle or begin the work again.
 */
const OUTCOME_LIMIT_MS = 40_000;
/** The same during shutdown. */
const CLOSING_LIMIT_MS = 3_000;
const OUTCOME_RETRY_MS = 500;

/** Waits and returns true when a write that has failed since then is to be retried; false: it is given up. */
export async function isTriedAgain(failingSinceMs: number, isOpen: () => boolean): Promise<boolean> {
  const limitMs = (): number => (isOpen() ? OUTCOME_LIMIT_MS : CLOSING_LIMIT_MS);
  if (performance.now() - failingSinceMs + OUTCOME_RETRY_MS > limitMs()) return false;
  await sleep(OUTCOME_RETRY_MS);
  return true;
}
