/** The two loops of a dispatcher: one claims work when there may be some, the other writes down what became of it. */

export interface ClaimLoopOptions {
  /** Claims what there is room for; calls `wake` where there may be more. Never rejects. */
  readonly claim: () => Promise<void>;
  /** From the start of one claim to that of the next, at least. */
  readonly intervalMs: number;
  readonly nowMs: () => number;
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

  /** Holds the next claim back; wall clock, ms since 1970. */
  notBefore(ms: number): void {
    this.#notBeforeMs = Math.max(this.#notBeforeMs, ms);
  }

  /** Resolves when no claim is under way; there will be no other. */
  async close(): Promise<void> {
    this.#state = "closed";
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#claiming;
  }

  #claimSoon(): void {
    if (!this.isOpen || !this.#wanted || this.#claiming !== null || this.#timer !== null) return;
    const { claim, intervalMs, nowMs } = this.#options;
    const waitMs = Math.max(0, this.#notBeforeMs - nowMs());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (!this.isOpen) return;
      this.#wanted = false;
      this.#notBeforeMs = nowMs() + intervalMs;
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
