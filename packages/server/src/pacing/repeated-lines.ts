/**
 * Log lines that callers and peers can cause in a loop: the first is written at once, and the others of a minute as one
 * line with their number. Pure: time comes from the clock that is handed in.
 */

import type { Clock } from "./clock.ts";

/** How long the repetitions of a line are counted. */
const COUNTED_MS = 60_000;
/** Different lines that are counted at a time, some 1 KiB each. Beyond it they count as one. */
const MAX_KEYS = 500;
/** The line in whose name those beyond the limit are counted. */
const OTHERS = "others";

interface Counted {
  more: number;
  /** Writes the latest repetition, with the number of all. */
  write: (more: number) => void;
  readonly cancel: () => void;
}

export class RepeatedLines {
  readonly #clock: Pick<Clock, "after">;
  readonly #counted = new Map<string, Counted>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /**
   * @param key lines with the same key are repetitions
   * @param write called with 0 at once, or later for the latest of `more` repetitions
   */
  say(key: string, write: (more: number) => void): void {
    const known = this.#counted.get(key) ?? (this.#isFull() ? this.#counted.get(OTHERS) : undefined);
    if (known !== undefined) {
      known.more += 1;
      known.write = write;
      return;
    }
    this.#begin(this.#isFull() ? OTHERS : key, write);
    write(0);
  }

  /** Writes what was counted, for example because the service ends. */
  flush(): void {
    for (const [key, counted] of this.#counted) this.#end(key, counted);
  }

  #isFull(): boolean {
    return this.#counted.size >= MAX_KEYS;
  }

  #begin(key: string, write: (more: number) => void): void {
    const counted: Counted = {
      more: 0,
      write,
      cancel: this.#clock.after(COUNTED_MS, () => {
        this.#counted.delete(key);
        if (counted.more === 0) return;
        counted.write(counted.more);
        // What is repeated goes on being counted: a line a minute.
        this.#begin(key, counted.write);
      }),
    };
    this.#counted.set(key, counted);
  }

  #end(key: string, { more, write, cancel }: Counted): void {
    cancel();
    this.#counted.delete(key);
    if (more > 0) write(more);
  }
}
