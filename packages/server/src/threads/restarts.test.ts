import { describe, expect, it } from "vitest";
import { NEVER, Restarts, THREAD_RESTARTS } from "./restarts.ts";

describe("restarts of a thread", () => {
  const { restarts, windowMs } = THREAD_RESTARTS;

  it("follow at once, up to a number within a window", () => {
    const policy = new Restarts(THREAD_RESTARTS);
    const waits = Array.from({ length: restarts + 1 }, (_, index) => policy.waitMs(true, index));
    expect(waits).toEqual([...Array.from({ length: restarts }, () => 0), null]);
  });

  it("are counted within the window only", () => {
    const policy = new Restarts(THREAD_RESTARTS);
    for (let failure = 0; failure < 20; failure += 1) expect(policy.waitMs(true, failure * windowMs)).toBe(0);
  });

  it("do not follow a start that failed", () => {
    expect(new Restarts(THREAD_RESTARTS).waitMs(false, 0)).toBeNull();
  });
});

it("restarts with a backoff wait longer each time, until a run succeeds", () => {
  const backoff = { firstMs: 100, longestMs: 300 };
  const policy = new Restarts({ restarts: Infinity, windowMs: 0, backoff, afterFailedStart: true });
  expect([1, 2, 3, 4].map((atMs) => policy.waitMs(false, atMs))).toEqual([100, 200, 300, 300]);
  policy.succeeded();
  expect(policy.waitMs(true, 5)).toBe(100);
});

it("nothing is started again where the policy says so", () => {
  expect(new Restarts(NEVER).waitMs(true, 0)).toBeNull();
});
