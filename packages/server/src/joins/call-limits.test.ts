import { describe, expect, it } from "vitest";
import { CallLimit } from "./call-limits.ts";

describe("a limit of each call", () => {
  const limit = () => new CallLimit({ count: 5, windowMs: 60_000 });

  it("allows so many in any window, and says how long to wait", () => {
    const offers = limit();
    for (let second = 0; second < 5; second += 1) expect(offers.take("a", second * 1_000)).toBe(0);
    expect(offers.take("a", 5_000)).toBe(55_000);
    expect(offers.take("a", 59_999)).toBe(1);
    expect(offers.take("a", 60_000)).toBe(0);
    expect(offers.take("a", 60_001)).toBe(999);
  });

  it("does not count what was refused", () => {
    const offers = limit();
    for (let times = 0; times < 100; times += 1) offers.take("a", 0);
    expect(offers.take("a", 60_000)).toBe(0);
  });

  it("does not count what is given back", () => {
    const offers = limit();
    for (let times = 0; times < 100; times += 1) {
      expect(offers.take("a", times)).toBe(0);
      offers.giveBack("a");
    }
    offers.giveBack("b");
    expect(offers.take("a", 100)).toBe(0);
  });

  it("counts each call alone", () => {
    const offers = limit();
    for (let times = 0; times < 100; times += 1) offers.take("a", 0);
    expect(offers.take("b", 0)).toBe(0);
  });

  it("forgets calls that are over", () => {
    const offers = limit();
    for (let call = 0; call < 10_000; call += 1) offers.take(String(call), call * 1_000);
    expect(offers.size).toBeLessThan(400);
  });
});
