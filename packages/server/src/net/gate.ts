/** Lets work through, so much of it at a time. */

import { setImmediate } from "node:timers/promises";

export type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Where whoever brings the work does not bound how much of it may wait. */
export interface WaitingLimit {
  readonly most: number;
  /** What the work beyond it is refused with. */
  readonly refusal: string;
}

/** Work waits in the order in which it came; before each piece everybody else on the thread has their turn. */
export function openGate(places: number, limit: WaitingLimit | null = null): Gate {
  let free = places;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else if (limit !== null && waiting.length >= limit.most) throw new Error(limit.refusal);
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
