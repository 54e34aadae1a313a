/** One process of the cluster as the machine treats it: it is slow, stands still, is cut off from the database, or dies. */

import { runIn, type ProcessTime } from "./process-time.ts";
import type { VirtualTime } from "./virtual-time.ts";
import type { Draw } from "../draw.ts";

/** One way between a process and the database, ms. */
const USUAL_WAY_MS = 4;
/** While a process is slow: a lease lasts six seconds, so some are renewed too late. */
const SLOW_WAY_MS = 2_500;

/** A late renewal, and the one after it. */
const RECOVERY_MS = 5_000;

export class SimulatedProcess implements ProcessTime {
  readonly name: string;
  isDead = false;
  readonly #time: VirtualTime;
  readonly #draw: Draw;
  readonly #startedAtMs: number;
  readonly #wallFromMs: number;
  #standsUntilMs = Number.NEGATIVE_INFINITY;
  #cutUntilMs = Number.NEGATIVE_INFINITY;
  #slowUntilMs = Number.NEGATIVE_INFINITY;

  /** @param wallFromMs what its wall clock shows at the start of the cluster: the skew of its machine is in it */
  constructor(name: string, time: VirtualTime, draw: Draw, wallFromMs: number) {
    this.name = name;
    this.#time = time;
    this.#draw = draw;
    this.#startedAtMs = time.nowMs();
    this.#wallFromMs = wallFromMs;
  }

  readonly wallMs = (): number => this.#wallFromMs + this.#time.nowMs();
  readonly nowMs = (): number => this.#time.nowMs() - this.#startedAtMs;

  readonly after = (delayMs: number, run: () => void): (() => void) => {
    let cancel = this.#time.after(delayMs, fire);
    // Declared as a function, because it refers to itself where the process stands still.
    const fireLater = (waitMs: number): void => void (cancel = this.#time.after(waitMs, fire));
    const isReady = (): boolean => !this.isDead;
    const standsForMs = (): number => this.#standsUntilMs - this.#time.nowMs();
    const runHere = (): void => runIn(this, run);
    function fire(): void {
      if (!isReady()) return;
      const waitMs = standsForMs();
      if (waitMs > 0) fireLater(waitMs);
      else runHere();
    }
    return () => cancel();
  };

  /** Stands still, as after SIGSTOP: its clocks go on, and its connections stay. */
  standStill(forMs: number): void {
    this.#standsUntilMs = this.#time.nowMs() + forMs;
  }

  cutOff(forMs: number): void {
    this.#cutUntilMs = Math.max(this.#cutUntilMs, this.#time.nowMs() + forMs);
  }

  slowDown(forMs: number): void {
    this.#slowUntilMs = this.#time.nowMs() + forMs;
  }

  isCutOff(): boolean {
    return this.#time.nowMs() < this.#cutUntilMs;
  }

  /** It has had no trouble for some seconds, in which its lease was renewed. */
  isWell(): boolean {
    const troubleMs = Math.max(this.#standsUntilMs, this.#cutUntilMs, this.#slowUntilMs);
    return !this.isDead && this.#time.nowMs() >= troubleMs + RECOVERY_MS;
  }

  /** Goes on after one way to or from the database; never, where the process dies meanwhile. */
  way(): Promise<void> {
    const longestMs = this.#time.nowMs() < this.#slowUntilMs ? SLOW_WAY_MS : USUAL_WAY_MS;
    return new Promise((resolve) => this.after(this.#draw.unit() * longestMs, resolve));
  }
}
