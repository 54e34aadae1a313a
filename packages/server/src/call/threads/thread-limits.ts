/** Limits of side threads. */

import type { ThreadLimits } from "./thread-state.ts";

/** Threads that are live at once. */
export const THREADS_LIVE_MAX = 8;
/** Threads of one call, replaced ones included: one every five minutes of the longest call. */
export const THREADS_SPAWNED_MAX = 300;
/** Threads that have failed and are still known by their ids; the oldest are forgotten. */
export const THREADS_FAILED_KEPT = 8;
/** Messages that wait for a thread that is busy. */
export const INBOX_MAX = 32;
/** Tool calls of all threads that run at once, so that the conversation's own always find room. */
export const SIDE_CALLS_RUNNING_MAX = 16;
/** Tool calls of all threads in one call, a fifth of what a call may make. */
export const SIDE_CALLS_MAX = 2_000;
/** Nobody waits for a thread, and models that think before they write take 20 s. */
export const SIDE_SILENCE_LIMIT_MS = 30_000;
/** Attempts of one generation. */
export const SIDE_ATTEMPTS_MAX = 3;

/** Of one thread, where its message names none or higher ones. */
export const DEPLOYMENT_LIMITS: ThreadLimits = {
  threadOutputTokenLimit: 100_000,
  threadFuzzyInputTokenLimit: 2_000_000,
  generationLimit: 100,
  // Some 32,000 characters: its message is far below the largest data message.
  generationOutputTokenLimit: 8_000,
  generationFuzzyInputTokenLimit: 200_000,
};

/** 0: that of the deployment, which is also the highest. */
export function limitsOf(given: ThreadLimits): ThreadLimits {
  const limit = (name: keyof ThreadLimits): number =>
    given[name] === 0 ? DEPLOYMENT_LIMITS[name] : Math.min(given[name], DEPLOYMENT_LIMITS[name]);
  return {
    threadOutputTokenLimit: limit("threadOutputTokenLimit"),
    threadFuzzyInputTokenLimit: limit("threadFuzzyInputTokenLimit"),
    generationLimit: limit("generationLimit"),
    generationOutputTokenLimit: limit("generationOutputTokenLimit"),
    generationFuzzyInputTokenLimit: limit("generationFuzzyInputTokenLimit"),
  };
}
