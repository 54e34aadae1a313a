/** The requests for a transcript that Deepgram has not answered. */

export interface Flush {
  readonly flushId: number;
  /** End of the audio that it covers, in seconds of the connection. */
  readonly atS: number;
}

/** Audio without a result, of which a request may be answered all the same: less than a word with a pause. */
const LEFT_UNANSWERED_S = 0.5;

export class Flushes {
  #waiting: readonly Flush[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  get latest(): Flush | undefined {
    return this.#waiting.at(-1);
  }

  add(flush: Flush): void {
    this.#waiting = [...this.#waiting, flush];
  }

  clear(): void {
    this.#waiting = [];
  }

  /** Removes and returns those that an answer covers, oldest first. */
  take(isCovered: (flush: Flush, index: number) => boolean): readonly Flush[] {
    const covered = this.#waiting.filter(isCovered);
    this.#waiting = this.#waiting.filter((flush) => !covered.includes(flush));
    return covered;
  }

  /** At its limit: whether enough was heard for an answer, which removes it. */
  settle(flushId: number, heardS: number | null): boolean {
    if (heardS === null) return false;
    return this.take((one) => one.flushId === flushId && one.atS - heardS <= LEFT_UNANSWERED_S).length > 0;
  }
}
