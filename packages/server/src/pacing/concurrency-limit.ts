/** Limits how many pieces of work of each key run at a time. What is beyond the limit does not wait. */
export class ConcurrencyLimit {
  readonly #most: number;
  /** Has an entry only for keys with running work. */
  readonly #running = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Null: as many as allowed are running, and `work` was not called. */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> | null {
    const running = this.#running.get(key) ?? 0;
    if (running >= this.#most) return null;
    this.#running.set(key, running + 1);
    return this.#finish(key, work);
  }

  async #finish<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } finally {
      const left = (this.#running.get(key) ?? 0) - 1;
      if (left > 0) this.#running.set(key, left);
      else this.#running.delete(key);
    }
  }
}
