import { describe, expect, it } from "vitest";
import { clientOf, rateLimit, retryAfterSeconds } from "./rate-limit.ts";

describe("rateLimit", () => {
  it("lets one second's worth through at once and then the rate", () => {
    const limit = rateLimit(4);
    expect([0, 0, 0, 0].map((atMs) => limit.take("a", atMs))).toEqual([0, 0, 0, 0]);
    expect(limit.take("a", 0)).toBe(250);
    expect(limit.take("a", 249)).toBe(1);
    expect(limit.take("a", 250)).toBe(0);
    expect(limit.take("a", 251)).toBeGreaterThan(0);
  });

  it("never saves up more than one second", () => {
    const limit = rateLimit(2);
    limit.take("a", 0);
    const later = 3_600_000;
    expect([limit.take("a", later), limit.take("a", later)]).toEqual([0, 0]);
    expect(limit.take("a", later)).toBeGreaterThan(0);
  });

  it("keeps names apart", () => {
    const limit = rateLimit(1);
    expect(limit.take("a", 0)).toBe(0);
    expect(limit.take("b", 0)).toBe(0);
    expect(limit.take("a", 0)).toBe(1000);
  });

  it("looks without taking", () => {
    const limit = rateLimit(1);
    expect([limit.peek("a", 0), limit.peek("a", 0), limit.take("a", 0)]).toEqual([0, 0, 0]);
    expect(limit.peek("a", 0)).toBe(1000);
  });

  it("is off at 0", () => {
    const limit = rateLimit(0);
    for (let i = 0; i < 1000; i += 1) expect(limit.take("a", 0)).toBe(0);
  });

  it("survives a clock that steps back", () => {
    const limit = rateLimit(1);
    limit.take("a", 10_000);
    expect(limit.take("a", 5_000)).toBe(1000);
    expect(limit.take("a", 6_000)).toBe(0);
  });

  it("forgets the name unused for longest when the map is full", () => {
    const limit = rateLimit(1, { maxBuckets: 2 });
    limit.take("a", 0);
    limit.take("b", 0);
    limit.take("a", 1);
    limit.take("c", 2);
    expect(limit.peek("b", 2)).toBe(0);
    expect(limit.peek("a", 2)).toBeGreaterThan(0);
    expect(limit.peek("c", 2)).toBeGreaterThan(0);
  });
});

describe("retryAfterSeconds", () => {
  it.each([
    [0, 1],
    [1, 1],
    [1000, 1],
    [1001, 2],
  ])("%i ms is %i s", (ms, seconds) => {
    expect(retryAfterSeconds(ms)).toBe(seconds);
  });
});

describe("clientOf", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0db8:0001:0002::9", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
  ])("%s counts as %s", (address, client) => {
    expect(clientOf(address)).toBe(client);
  });
});

describe("a share of a rate", () => {
  it("divides the rate and what is saved up, and follows a change", () => {
    let share = 0.5;
    const limit = rateLimit(4, { share: () => share });
    expect([0, 0, 0].map((atMs) => limit.take("a", atMs))).toEqual([0, 0, 500]);
    share = 1;
    expect(limit.take("a", 0)).toBe(250);
    expect([1_000, 1_000, 1_000, 1_000].map((atMs) => limit.take("a", atMs))).toEqual([0, 0, 0, 0]);
  });

  it("lets nothing through where there is none", () => {
    let share = 0;
    const limit = rateLimit(4, { share: () => share });
    expect(limit.take("a", 0)).toBe(2_000);
    expect(limit.take("a", 3_600_000)).toBe(2_000);
    share = 0.25;
    expect(limit.take("a", 3_600_001)).toBe(0);
  });
});
