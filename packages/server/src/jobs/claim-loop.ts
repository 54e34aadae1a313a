/**
 * The two loops of a dispatcher: one claims work when there may be some, the other writes down what became of it. Their
 * times are those of a clock that is never set, so that nothing stands still while the machine's own is corrected.
 */

import { setTimeout as sleep } from "node:timers/promises";

export interface ClaimLoopOptions {
  /** Claims what there is room for; calls `wake` where there may be more. Never rejects. */
  readonly claim: () => Promise<void>;
  /** From the start of one claim to that of the next, at least. */
  readonly intervalMs: number;
}

/** One claim at a time, and none unless somebody has asked since the last one began. */
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

  /** Holds the next claim back for so long at least. */
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
  /** Writes until there is no more. Never rejects. */
  readonly write: () => Promise<void>;
}

/** Writes one after the other. */
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
      // More may have come between the last look and this.
      this.soon();
    });
  }

  /** Resolves when all is written. */
  async settle(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }
}

/**
 * How long outcomes are tried to be written down: a database that is started again is back within some seconds, and what is
 * not on record by then has lost its lease, and is settled or begun anew by others.
 */
const OUTCOME_LIMIT_MS = 40_000;
/** The same once the service stops. */
const CLOSING_LIMIT_MS = 3_000;
const OUTCOME_RETRY_MS = 500;

/** Whether what has not been written down for so long is tried again, after a pause; false: it is given up. */
export async function isTriedAgain(failingSinceMs: number, isOpen: () => boolean): Promise<boolean> {
  const limitMs = (): number => (isOpen() ? OUTCOME_LIMIT_MS : CLOSING_LIMIT_MS);
  if (performance.now() - failingSinceMs + OUTCOME_RETRY_MS > limitMs()) return false;
  await sleep(OUTCOME_RETRY_MS);
  return true;
}
