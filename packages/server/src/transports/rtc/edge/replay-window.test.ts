import { array, assert, integer, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { ReplayWindow } from "./replay-window.ts";

describe("a replay window", () => {
  test("takes each number once, in any order within the window", () => {
    const window = new ReplayWindow();
    for (const number of [5, 3, 4, 900, 0, 1_000]) {
      expect([number, window.isNew(number)]).toEqual([number, true]);
      window.accept(number);
      expect([number, window.isNew(number)]).toEqual([number, false]);
    }
  });

  test("takes nothing that is older than the window", () => {
    const window = new ReplayWindow();
    window.accept(5_000);
    expect([window.isNew(5_000 - 1_024), window.isNew(5_000 - 1_023)]).toEqual([false, true]);
  });

  test("is not moved by numbers that are only asked for", () => {
    const window = new ReplayWindow();
    window.accept(10);
    expect([window.isNew(1_000_000), window.isNew(9)]).toEqual([true, true]);
  });

  test("agrees with a set of all numbers within the window", () => {
    assert(
      property(array(integer({ min: 0, max: 1_500 }), { maxLength: 300 }), (received) => {
        const window = new ReplayWindow();
        const all = new Set<number>();
        for (const number of received) {
          const isNew = number > Math.max(-1, ...all) - 1_024 && !all.has(number);
          expect(window.isNew(number)).toBe(isNew);
          if (!isNew) continue;
          window.accept(number);
          all.add(number);
        }
      }),
    );
  });

  test("continues 16-bit numbers past their end, and before their start", () => {
    const window = new ReplayWindow();
    const first = window.extended(65_534);
    window.accept(first);
    expect([window.extended(65_535) - first, window.extended(3) - first]).toEqual([1, 5]);
    window.accept(window.extended(3));
    expect(window.extended(65_533) - first).toBe(-1);
  });
});
