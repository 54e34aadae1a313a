/** Seeded random generator: the same seed draws the same conversation on every machine. */

import { seeded } from "../src/media/testing/seeded.ts";

export class Draw {
  /** 0 up to but not including 1. */
  readonly unit: () => number;

  constructor(seed: number) {
    this.unit = seeded(seed);
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
