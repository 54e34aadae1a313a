/**
 * Timers are derived, not managed: after each event every noun returns the timers it needs now, and this file sets the
 * missing ones and cancels the others. So no path can forget one. Invariant I6 of SPEC.md.
 */

import { emit, nextId, update, type Draft } from "./draft.ts";
import type { TimerKind } from "./state.ts";

/** A timer runs on while its key stays the same and restarts when the key changes. */
export interface WantedTimer {
  readonly key: string;
  readonly delayMs: number;
}

export type WantedTimers = Partial<Record<TimerKind, WantedTimer | null>>;

/** Wire and plan allow long delays; beyond 2^31 - 1 ms the runtime's own timers would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export function settleTimers(draft: Draft, wanted: WantedTimers): void {
  const { timers } = draft.state;
  const running: Partial<Record<TimerKind, { readonly timerId: number; readonly key: string }>> = {};
  let changed = false;
  for (const [kind, timer] of entries(timers)) {
    if (wanted[kind]?.key === timer.key) running[kind] = timer;
    else {
      emit(draft, { type: "cancelTimer", timerId: timer.timerId });
      changed = true;
    }
  }
  for (const [kind, want] of entries(wanted)) {
    if (want === null || running[kind] !== undefined) continue;
    const timerId = nextId(draft, "timer");
    const delayMs = Math.max(0, Math.min(LONGEST_DELAY_MS, want.delayMs));
    emit(draft, { type: "setTimer", timerId, delayMs });
    running[kind] = { timerId, key: want.key };
    changed = true;
  }
  if (changed) update(draft, { timers: running });
}

/** The kind of a timer that fired, taken off the table; null for one that the engine has dropped. */
export function takeTimer(draft: Draft, timerId: number): TimerKind | null {
  for (const [kind, timer] of entries(draft.state.timers)) {
    if (timer.timerId !== timerId) continue;
    const timers = { ...draft.state.timers };
    delete timers[kind];
    update(draft, { timers });
    return kind;
  }
  return null;
}

export function cancelAllTimers(draft: Draft): void {
  for (const [, timer] of entries(draft.state.timers))
    emit(draft, { type: "cancelTimer", timerId: timer.timerId });
  update(draft, { timers: {} });
}

function entries<T>(table: Partial<Record<TimerKind, T>>): readonly (readonly [TimerKind, T])[] {
  return Object.entries(table) as [TimerKind, T][];
}
