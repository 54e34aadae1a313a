/** Requests of all crawls of this process to one host keep a distance in time. */

import { setTimeout as wait } from "node:timers/promises";

/** Hosts that are remembered; the oldest is forgotten. */
const MAX_HOSTS = 10_000;

export interface HostPace {
  /** Resolves when the next request to the host may begin. Rejects when `signal` is aborted. */
  turn(host: string, delayMs: number, signal: AbortSignal): Promise<void>;
}

/** `nowMs` is monotonic. */
export function openHostPace(
  nowMs: () => number = () => performance.now(),
  sleep: (ms: number, signal: AbortSignal) => Promise<void> = (ms, signal) => wait(ms, undefined, { signal }),
): HostPace {
  const freeAtMs = new Map<string, number>();
  return {
    async turn(host, delayMs, signal) {
      const atMs = Math.max(nowMs(), freeAtMs.get(host) ?? 0);
      freeAtMs.delete(host);
      freeAtMs.set(host, atMs + delayMs);
      const [oldest] = freeAtMs.keys();
      if (freeAtMs.size > MAX_HOSTS && oldest !== undefined) freeAtMs.delete(oldest);
      const waitMs = atMs - nowMs();
      if (waitMs > 0) await sleep(waitMs, signal);
    },
  };
}
