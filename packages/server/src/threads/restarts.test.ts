import { describe, expect, it } from "vitest";
import { NEVER, Restarts, THREAD_RESTARTS } from "./restarts.ts";

describe("restarts of a thread", () => {
  const { restarts, windowMs, pauseMs } = THREAD_RESTARTS;

  it("follow at once, up to a number within a window, and then after a pause, again and again", () => {
    const policy = new Restarts(THREAD_RESTARTS);
    const waits = Array.from({ length: restarts + 3 }, (_, index) => policy.waitMs(true, index));
    expect(waits).toEqual([...Array.from({ length: restarts }, () => 0), pauseMs, pauseMs, pauseMs]);
    expect(policy.waitMs(true, windowMs + restarts)).toBe(0);
  });

  it("are counted within the window only", () => {
    const policy = new Restarts(THREAD_RESTARTS);
    for (let failure = 0; failure < 20; failure += 1) expect(policy.waitMs(true, failure * windowMs)).toBe(0);
  });

  it("do not follow a first start that failed, but a later one, after a pause", () => {
    expect(new Restarts(THREAD_RESTARTS).waitMs(false, 0)).toBeNull();
    const policy = new Restarts(THREAD_RESTARTS);
    expect([policy.waitMs(true, 0), policy.waitMs(false, 1), policy.waitMs(false, 2)]).toEqual([
      0,
      pauseMs,
      pauseMs,
    ]);
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
