/** A semaphore: limits how much asynchronous work runs concurrently. */

import { setImmediate } from "node:timers/promises";

/** Runs the work as soon as a permit is free, and returns its result. */
export type Semaphore = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Needed where the callers do not limit how much work may wait. */
export interface WaitingLimit {
  readonly most: number;
  /** Of one key, so that no key holds all places of the queue. Absent: `most`. */
  readonly mostPerKey?: number;
  /** Message of the error for work beyond the limit. */
  readonly refusal: string;
}

/** More work waits than is allowed. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

/**
 * Work runs in the order of its arrival. The event loop turns once before each piece, so that other work gets its time.
 */
export function openSemaphore(permits: number, limit: WaitingLimit | null = null): Semaphore {
  const semaphore = openKeyedSemaphore({ permits, permitsPerKey: permits, limit });
  return (work) => semaphore("", work);
}

export interface KeyedSemaphoreOptions {
  readonly permits: number;
  /** So that no key holds all permits. */
  readonly permitsPerKey: number;
  readonly limit?: WaitingLimit | null;
}

/** Runs the work as soon as there is a permit for its key, and returns its result. */
export type KeyedSemaphore = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/**
 * Work of one key runs in the order of its arrival. A free permit passes to the key with the fewest permits in use, so that
 * a key with much work does not delay the others.
 */
export function openKeyedSemaphore(options: KeyedSemaphoreOptions): KeyedSemaphore {
  const { permits, permitsPerKey, limit = null } = options;
  let free = permits;
  const used = new Map<string, number>();
  const waiting: { readonly key: string; readonly begin: () => void }[] = [];
  const mayBegin = (key: string): boolean => free > 0 && (used.get(key) ?? 0) < permitsPerKey;
  const take = (key: string): void => {
    free -= 1;
    used.set(key, (used.get(key) ?? 0) + 1);
  };
  const release = (key: string): void => {
    free += 1;
    const left = (used.get(key) ?? 0) - 1;
    if (left > 0) used.set(key, left);
    else used.delete(key);
    // Among keys with as many permits in use, to the work that has waited longest.
    let index = -1;
    let fewest = permitsPerKey;
    for (const [place, { key: other }] of waiting.entries()) {
      const inUse = used.get(other) ?? 0;
      if (inUse >= fewest) continue;
      index = place;
      fewest = inUse;
      if (fewest === 0) break;
    }
    const [next] = index < 0 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    take(next.key);
    next.begin();
  };
  const isFull = ({ most, mostPerKey = most }: WaitingLimit, key: string): boolean =>
    waiting.length >= most ||
    (mostPerKey < most && waiting.filter((one) => one.key === key).length >= mostPerKey);
  return async (key, work) => {
    if (mayBegin(key)) take(key);
    else if (limit !== null && isFull(limit, key)) throw new RefusedError(limit.refusal);
    else await new Promise<void>((begin) => waiting.push({ key, begin }));
    try {
      await setImmediate();
      return await work();
    } finally {
      release(key);
    }
  };
}
