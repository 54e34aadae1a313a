/** Lets work through, so much of it at a time. */

import { setImmediate } from "node:timers/promises";

export type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Work waits in the order in which it came; before each piece everybody else on the thread has their turn. */
export function openGate(places: number): Gate {
  let free = places;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      await setImmediate();
      return await work();
    } finally {
      const next = waiting.shift();
      // The place goes over to whoever waits longest.
      if (next === undefined) free += 1;
      else next();
    }
  };
}
