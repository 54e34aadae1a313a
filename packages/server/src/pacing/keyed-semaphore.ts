/** A semaphore whose permits no single key can hold alone. */

import { setImmediate } from "node:timers/promises";

/** Runs the work as soon as there is a permit for its key, and returns its result. Callers limit how much waits. */
export type KeyedSemaphore = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/**
 * Work of one key runs in the order of its arrival. Work of another key passes what waits for its own key. The event
 * loop turns once before each piece, so that other work gets its time.
 */
export function openKeyedSemaphore(permits: number, permitsPerKey: number): KeyedSemaphore {
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
    const index = waiting.findIndex((one) => mayBegin(one.key));
    const [next] = index < 0 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    take(next.key);
    next.begin();
  };
  return async (key, work) => {
    if (mayBegin(key)) take(key);
    else await new Promise<void>((begin) => waiting.push({ key, begin }));
    try {
      await setImmediate();
      return await work();
    } finally {
      release(key);
    }
  };
}
