/** Reproducible chance: the same seed draws the same conversation on every machine (mulberry32). */

export class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 up to but not including 1. */
  unit(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.unit() * (max - min + 1));
  }

  chance(share: number): boolean {
    return this.unit() < share;
  }

  one<T>(options: readonly [T, ...T[]]): T {
    return options[this.whole(0, options.length - 1)] ?? options[0];
  }
}
