/** Whether the window of a batch can hold its calls (D165). */

import { type FieldError, formatDurationMs, type ThrottleRule } from "@parley/schema";

export interface BatchWindow {
  /** ISO 8601; null: now. */
  readonly windowStart: string | null;
  /** Null: until all calls are created. */
  readonly windowEnd: string | null;
}

/**
 * The shortest time in which so many calls can be created if every rule allows them: the first ones at once, and as
 * many again after each window of the rule.
 */
export function leastWindowMs(calls: number, rules: readonly ThrottleRule[]): number {
  return Math.max(
    0,
    ...rules.map(({ maxCalls, windowSeconds }) => Math.floor((calls - 1) / maxCalls) * windowSeconds * 1000),
  );
}

export interface BatchLoad {
  /** Calls that are not created yet, 1 and more. */
  readonly calls: number;
  readonly rules: readonly ThrottleRule[];
  readonly nowMs: number;
}

export function windowProblems({ windowStart, windowEnd }: BatchWindow, load: BatchLoad): FieldError[] {
  if (windowEnd === null) return [];
  const endMs = Date.parse(windowEnd);
  const startMs = windowStart === null ? load.nowMs : Date.parse(windowStart);
  const problem = (message: string): FieldError[] => [{ field: "windowEnd", message }];
  if (windowStart !== null && endMs <= startMs) return problem("must be after windowStart");
  if (endMs <= load.nowMs) return problem("must not be in the past");
  const leastMs = leastWindowMs(load.calls, load.rules);
  if (endMs - Math.max(startMs, load.nowMs) >= leastMs) return [];
  const least = formatDurationMs(leastMs);
  return problem(`leaves too short a window: ${load.calls} calls at the allowed rate need at least ${least}`);
}
