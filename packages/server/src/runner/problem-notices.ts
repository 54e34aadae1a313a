/** Reports problems of a transport, but not as often as a flood of bad frames has them. */

import type { Clock } from "../pacing/clock.ts";
import type { TransportProblem } from "../ports/transport.ts";

/** At most one report per kind in this time. */
const INTERVAL_MS = 1_000;

export class ProblemNotices {
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #lastMs = new Map<TransportProblem, number>();

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** Whether to report this one. */
  isDue(problem: TransportProblem): boolean {
    const nowMs = this.#clock.nowMs();
    if (nowMs - (this.#lastMs.get(problem) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return false;
    this.#lastMs.set(problem, nowMs);
    return true;
  }
}
