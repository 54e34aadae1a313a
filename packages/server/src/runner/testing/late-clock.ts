/** A clock for what is built before the world whose clock it is. */

import type { Clock } from "../../pacing/clock.ts";

export interface LateClock {
  /** @throws until there is a clock */
  readonly clock: Clock;
  /** To be called once, with the clock of the world. */
  readonly begin: (clock: Clock) => void;
}

export function openLateClock(): LateClock {
  let begun: Clock | null = null;
  const now = (): Clock => {
    if (begun === null) throw new Error("the world has no clock yet");
    return begun;
  };
  return {
    clock: {
      nowMs: () => now().nowMs(),
      wallMs: () => now().wallMs(),
      onTick: (pump) => now().onTick(pump),
      after: (delayMs, fire) => now().after(delayMs, fire),
    },
    begin: (clock) => void (begun = clock),
  };
}
