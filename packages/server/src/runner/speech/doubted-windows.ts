/**
 * The windows that came in while it was unknown whether they are the agent's echo, with their scores, until the echo is
 * known and they are judged again.
 */

import { ECHO_UNKNOWN } from "../../media/echo.ts";

/** Windows that are remembered, the latest: as many as the estimator judges again. */
export const DOUBTED_MAX = 96;
/** Below this a window judged again is not the agent's voice; the engine's own limit is the same. */
const ECHO_POSSIBLE = 0.25;

export interface DoubtedWindow {
  readonly index: number;
  readonly score: number;
}

export class DoubtedWindows {
  #indexes: number[] = [];
  readonly #scores = new Map<number, number>();
  /** Those that are not echo, and the window whose score shows that all of theirs have come. */
  #own: { readonly indexes: ReadonlySet<number>; readonly atIndex: number } | null = null;

  /** A window came in. `judgedAgain`: likelihoods of the doubted windows before it, the latest last; null: none. */
  heard(index: number, likelihood: number, judgedAgain: readonly number[] | null): void {
    if (judgedAgain !== null) {
      const offset = this.#indexes.length - judgedAgain.length;
      const own = this.#indexes.filter((_, at) => (judgedAgain[at - offset] ?? 1) < ECHO_POSSIBLE);
      this.#indexes = [];
      this.#own = { indexes: new Set(own), atIndex: index };
    }
    if (likelihood !== ECHO_UNKNOWN) return;
    this.#indexes.push(index);
    if (this.#indexes.length > DOUBTED_MAX) this.#scores.delete(this.#indexes.shift() ?? -1);
  }

  /** The score of a window came. Answers, once, the windows that were not echo; null while there is nothing to tell. */
  scored(index: number, score: number): readonly DoubtedWindow[] | null {
    if (this.#own === null || index < this.#own.atIndex) {
      if (this.#own?.indexes.has(index) === true || this.#indexes.includes(index))
        this.#scores.set(index, score);
      return null;
    }
    const own = [...this.#own.indexes].flatMap((at) => {
      const known = this.#scores.get(at);
      return known === undefined ? [] : [{ index: at, score: known }];
    });
    this.#own = null;
    this.#scores.clear();
    return own.length === 0 ? null : own;
  }
}
