/** Limits how much of each key is open at a time. What is beyond the limit does not wait. */
export class ConcurrencyLimit {
  readonly #most: number;
  /** Has an entry only for keys with something open. */
  readonly #open = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns what ends it, which may be called again. Null: as many as allowed are open. */
  enter(key: string): (() => void) | null {
    const open = this.#open.get(key) ?? 0;
    if (open >= this.#most) return null;
    this.#open.set(key, open + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.#open.get(key) ?? 0) - 1;
      if (left > 0) this.#open.set(key, left);
      else this.#open.delete(key);
    };
  }

  /** Null: as many as allowed are running, and `work` was not called. */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> | null {
    const leave = this.enter(key);
    return leave === null ? null : finish(work, leave);
  }
}

async function finish<Result>(work: () => Promise<Result>, leave: () => void): Promise<Result> {
  try {
    return await work();
  } finally {
    leave();
  }
}
