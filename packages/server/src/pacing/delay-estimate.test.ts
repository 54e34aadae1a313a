import { describe, expect, it } from "vitest";
import { DelayEstimate } from "./delay-estimate.ts";

const open = () => new DelayEstimate({ initialMs: 3_000, shortestMs: 800, longestMs: 5_000 });

describe("the limit of a measured delay", () => {
  it("is the first one until something was measured", () => {
    expect(open().limitMs()).toBe(3_000);
    expect(open().meanMs).toBeNull();
  });

  it("comes close to a delay that does not vary, and never below the shortest", () => {
    const steady = open();
    for (let i = 0; i < 100; i += 1) steady.add(1_000);
    expect(steady.limitMs()).toBeCloseTo(1_000, 0);
    expect(steady.meanMs).toBeCloseTo(1_000, 5);
    const fast = open();
    for (let i = 0; i < 100; i += 1) fast.add(50);
    expect(fast.limitMs()).toBe(800);
  });

  it("leaves room for delays that vary", () => {
    const varied = open();
    for (let i = 0; i < 100; i += 1) varied.add(i % 2 === 0 ? 400 : 800);
    expect(varied.limitMs()).toBeGreaterThan(1_200);
    expect(varied.limitMs()).toBeLessThan(2_000);
  });

  it("grows with each missing answer, up to the longest", () => {
    const slower = open();
    for (let i = 0; i < 20; i += 1) slower.add(200);
    const before = slower.limitMs();
    slower.missed();
    expect(slower.limitMs()).toBeGreaterThan(before);
    for (let i = 0; i < 100; i += 1) slower.missed();
    expect(slower.limitMs()).toBe(5_000);
  });
});
