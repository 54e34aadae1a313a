/** The lease of this process as it knows it, by its own clock, which only goes forward. */

import { LEASE_MS } from "../store/nodes/announcements.ts";

export class OwnLease {
  readonly #leaseMs: number;
  readonly #nowMs: () => number;
  #untilMs: number;
  /** Since when the lease has not lapsed. */
  #steadySinceMs: number;
  #lapses = 0;
  /** Lapses after which it was checked what others have taken. */
  #checkedLapses = 0;
  #isChecking = false;
  #check: () => Promise<void> = () => Promise.resolve();
  #checkFailed: (error: unknown) => void = () => undefined;
  readonly #waiting = new Set<() => void>();

  /** @param sentAtMs when the statement was sent that began the lease, by `nowMs` */
  constructor(sentAtMs: number, leaseMs: number, nowMs = (): number => performance.now()) {
    this.#leaseMs = leaseMs;
    this.#nowMs = nowMs;
    this.#untilMs = sentAtMs + leaseMs;
    this.#steadySinceMs = sentAtMs;
  }

  /** @param check runs after each lapse, until it has succeeded */
  onLapse(check: () => Promise<void>, failed: (error: unknown) => void): void {
    this.#check = check;
    this.#checkFailed = failed;
  }

  /**
   * The lease was renewed by a statement that was sent at `sentAtMs`: the database counts from later.
   * @param hasLapsed by the clock of the database, which also counts time that a suspended machine has missed
   */
  renewed(sentAtMs: number, hasLapsed: boolean): void {
    if (hasLapsed || sentAtMs > this.#untilMs) {
      this.#steadySinceMs = sentAtMs;
      this.#lapses += 1;
    }
    this.#untilMs = sentAtMs + this.#leaseMs;
    if (this.#isUnsure()) void this.#runCheck();
    else this.#wake();
  }

  /** The lease has not lapsed. */
  isCurrent(): boolean {
    return this.#nowMs() < this.#untilMs;
  }

  /** No other process can have taken calls of this one. */
  isHeld(): boolean {
    return this.isCurrent() && !this.#isUnsure();
  }

  /** Resolves when `isHeld`: after the next renewal, where the lease has lapsed. */
  async whenHeld(): Promise<void> {
    while (!this.isHeld()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** How long the lease has been held without a break; 0: it is not. */
  steadyMs(): number {
    return this.isCurrent() ? this.#nowMs() - this.#steadySinceMs : 0;
  }

  /**
   * Whether a lapsed lease of another process proves that it is gone: this one has reached the database for as long as a
   * lease lasts. After an outage of the database all leases have lapsed.
   */
  trustsOthers(): boolean {
    return this.steadyMs() >= LEASE_MS;
  }

  /** Others may have taken calls, and it was not checked since. */
  #isUnsure(): boolean {
    return this.#checkedLapses < this.#lapses;
  }

  async #runCheck(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    const lapses = this.#lapses;
    try {
      await this.#check();
      // Another lapse may have come meanwhile: the next renewal checks again.
      this.#checkedLapses = lapses;
      this.#wake();
    } catch (error) {
      this.#checkFailed(error);
    } finally {
      this.#isChecking = false;
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
