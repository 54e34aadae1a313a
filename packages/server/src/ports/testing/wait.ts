/** A timer that an abort ends at once. */

import { abortError, throwIfAborted } from "../../pacing/abort.ts";

/** Resolves after `delayMs` (0: at once, without a timer); rejects with an `AbortError` as soon as `signal` aborts. */
export function waitMs(delayMs: number, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  if (delayMs <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(abortError());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, delayMs);
    signal.addEventListener("abort", abort, { once: true });
  });
}
