import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openClock, TICK_MS } from "./clock.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("ticks are due at even times, however late they are", () => {
  const clock = openClock();
  const startMs = clock.nowMs();
  const ticks: number[] = [];
  const stop = clock.onTick((tickMs) => {
    ticks.push(tickMs - startMs);
    // The work of the tick takes so long that the next one is late.
    if (ticks.length === 3) vi.setSystemTime(Date.now() + TICK_MS + 4);
  });
  vi.advanceTimersByTime(6 * TICK_MS);
  stop();
  expect(ticks.slice(0, 3)).toEqual([TICK_MS, 2 * TICK_MS, 3 * TICK_MS]);
  for (const tick of ticks) expect(tick % TICK_MS).toBe(0);
  expect(new Set(ticks).size).toBe(ticks.length);
});

test("what a standstill has left out is not made up for", () => {
  const clock = openClock();
  const startMs = clock.nowMs();
  const ticks: number[] = [];
  const now = vi.spyOn(performance, "now");
  const stop = clock.onTick((tickMs) => ticks.push(tickMs - startMs));
  now.mockReturnValue(startMs + 57);
  vi.advanceTimersByTime(TICK_MS);
  expect(ticks).toEqual([50]);
  // The next one is due in 3 ms, and not in 10.
  now.mockReturnValue(startMs + 60.5);
  vi.advanceTimersByTime(3);
  expect(ticks).toEqual([50, 60]);
  stop();
  now.mockRestore();
});

test("nothing is left of a clock that nobody uses, and it ticks again for the next one", () => {
  const clock = openClock();
  const ticks: number[] = [];
  const stops = [clock.onTick((tickMs) => ticks.push(tickMs)), clock.onTick(() => undefined)];
  for (const stop of stops) stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1_000);
  expect(ticks).toEqual([]);
  const again = clock.onTick((tickMs) => ticks.push(tickMs));
  vi.advanceTimersByTime(2 * TICK_MS);
  again();
  expect(ticks).toHaveLength(2);
  expect(vi.getTimerCount()).toBe(0);
});
