import { describe, expect, it } from "vitest";
import { chooseThread, LEGS_PER_THREAD, type ThreadLoad } from "./thread-choice.ts";

interface Named extends ThreadLoad {
  readonly name: string;
}

/** @param legs by account */
function thread(name: string, legs: Readonly<Record<string, number>>, isResponsive = true): Named {
  return {
    name,
    isResponsive,
    legCount: Object.values(legs).reduce((sum, count) => sum + count, 0),
    legCountOf: (accountId) => legs[accountId] ?? 0,
    otherAccountsThan: (accountId) =>
      Object.entries(legs).filter(([id, count]) => id !== accountId && count > 0).length,
  };
}

const chosen = (threads: readonly Named[], accountId: string, maxThreads = 4): string | null => {
  const choice = chooseThread(threads, accountId, maxThreads);
  return choice === null || choice === "start" ? choice : choice.name;
};

describe("a leg goes to", () => {
  it("the only thread that has room, and a new one only when all are full", () => {
    expect(chosen([], "a")).toBe("start");
    expect(chosen([thread("one", { a: LEGS_PER_THREAD - 1 })], "a")).toBe("one");
    expect(chosen([thread("one", { a: LEGS_PER_THREAD })], "a")).toBe("start");
    expect(chosen([thread("one", { a: LEGS_PER_THREAD }), thread("two", { b: 39 })], "a")).toBe("two");
  });

  it("the thread with the fewest legs of its account, however many others it has", () => {
    expect(chosen([thread("one", { a: 3 }), thread("two", { a: 2, b: 20 })], "a")).toBe("two");
  });

  it("then to the one with the fewest other accounts, and then to the one with the fewest legs", () => {
    expect(chosen([thread("one", { b: 1, c: 1 }), thread("two", { b: 9 })], "a")).toBe("two");
    expect(chosen([thread("one", { b: 9 }), thread("two", { c: 8 })], "a")).toBe("two");
  });

  it("the one with the fewest legs where all are full and no more may be started", () => {
    expect(chosen([thread("one", { a: 50 }), thread("two", { b: 60 })], "a", 2)).toBe("one");
  });

  it("no thread that does not answer: another is started in its place, up to twice as many", () => {
    const stuck = thread("stuck", { b: 1 }, false);
    expect(chosen([stuck], "a", 1)).toBe("start");
    expect(chosen([stuck, thread("two", { a: 50 })], "a", 1)).toBe("two");
    expect(chosen([stuck, stuck], "a", 1)).toBeNull();
  });
});

it("accounts that come one after the other share their threads with few others", () => {
  const legs = [new Map<string, number>(), new Map<string, number>()];
  const threads = legs.map((counts, index) => ({
    index,
    isResponsive: true,
    get legCount() {
      return [...counts.values()].reduce((sum, count) => sum + count, 0);
    },
    legCountOf: (id: string) => counts.get(id) ?? 0,
    otherAccountsThan: (id: string) => [...counts.keys()].filter((other) => other !== id).length,
  }));
  for (const accountId of ["a", "b", "c", "d"]) {
    const choice = chooseThread(threads, accountId, 2);
    if (choice === null || choice === "start") throw new Error("there is room");
    legs[choice.index]?.set(accountId, 1);
  }
  expect(legs.map((counts) => counts.size)).toEqual([2, 2]);
});
