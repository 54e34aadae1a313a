/** A semaphore: limits how much asynchronous work runs concurrently. */

import { setImmediate } from "node:timers/promises";

/** Runs the work as soon as a permit is free, and returns its result. */
export type Semaphore = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Needed where the callers do not limit how much work may wait. */
export interface WaitingLimit {
  readonly most: number;
  /** Message of the error for work beyond the limit. */
  readonly refusal: string;
}

/**
 * Work runs in the order of its arrival. The event loop turns once before each piece, so that other work gets its time.
 */
export function openSemaphore(permits: number, limit: WaitingLimit | null = null): Semaphore {
  let free = permits;
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
      // The permit passes to the work that has waited longest.
      if (next === undefined) free += 1;
      else next();
    }
  };
}
