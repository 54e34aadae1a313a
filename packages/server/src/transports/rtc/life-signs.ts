/** When something of the other side came last, and who waits for the next of it. */

export class LifeSigns {
  readonly #waiting = new Set<(isAlive: boolean) => void>();
  #heardAtMs = performance.now();
  #isOver = false;

  /** Something came. */
  heard(): void {
    this.#heardAtMs = performance.now();
    for (const settle of this.#waiting) settle(true);
  }

  /** The silence counts from now: nothing could come before. */
  restart(): void {
    this.#heardAtMs = performance.now();
  }

  get silentMs(): number {
    return performance.now() - this.#heardAtMs;
  }

  /** As `Transport.probe`. */
  probe(limitMs: number): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false);
    if (this.silentMs <= limitMs) return Promise.resolve(true);
    // The other side sends all the time, 50 packets a second: where it is there, something comes soon.
    return new Promise((resolve) => {
      const settle = (isAlive: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(settle);
        resolve(isAlive);
      };
      const timer = setTimeout(() => settle(false), limitMs);
      this.#waiting.add(settle);
    });
  }

  /** Nothing comes any more. Idempotent. */
  close(): void {
    this.#isOver = true;
    for (const settle of this.#waiting) settle(false);
  }
}
