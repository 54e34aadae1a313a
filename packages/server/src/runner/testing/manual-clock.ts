/** A clock that moves only when a test says so. */

import { TICK_MS, type Clock } from "../../pacing/clock.ts";

export interface ManualClock extends Clock {
  /** Moves on by `ms`, firing timers and ticks in their order, and lets promises settle after each. */
  advance(ms: number): Promise<void>;
  /** Timers and ticks that are set. */
  pending(): number;
}

/** @param wallMs what the wall clock shows at the start */
export function openManualClock(wallMs = 0): ManualClock {
  let nowMs = 0;
  let timers: { readonly dueMs: number; readonly fire: () => void }[] = [];
  const pumps = new Set<(nowMs: number) => void>();

  return {
    nowMs: () => nowMs,
    wallMs: () => wallMs + nowMs,
    onTick: (pump) => {
      pumps.add(pump);
      return () => {
        pumps.delete(pump);
      };
    },
    after: (delayMs, fire) => {
      const timer = { dueMs: nowMs + Math.max(0, delayMs), fire };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    pending: () => timers.length + pumps.size,
    advance: async (ms) => {
      const endMs = nowMs + ms;
      await settle();
      while (nowMs < endMs) {
        const tickMs = (Math.floor(nowMs / TICK_MS) + 1) * TICK_MS;
        const dueMs = Math.min(...timers.map((timer) => timer.dueMs), pumps.size > 0 ? tickMs : endMs, endMs);
        nowMs = Math.max(nowMs, dueMs);
        for (const timer of timers.filter((other) => other.dueMs <= nowMs)) {
          if (!timers.includes(timer)) continue;
          timers = timers.filter((other) => other !== timer);
          timer.fire();
        }
        if (nowMs === tickMs) for (const pump of pumps) pump(nowMs);
        await settle();
      }
      await settle();
    },
  };
}

/** Runs everything that waits for promises only. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
}
