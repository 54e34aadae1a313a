import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Heartbeat, MAX_MISSED_PINGS, PING_INTERVAL_MS } from "./heartbeat.ts";

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate", "performance"],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Immediates on the fake clock take 1 ms. */
const SLACK_MS = 100;

/** `answers`: whether the thread answers a ping, which it does at once. */
function started(answers: (pingId: number) => boolean) {
  const pings: number[] = [];
  let lost = 0;
  let stoodStillMs = 0;
  const heartbeat: Heartbeat = new Heartbeat({
    nowMs: () => performance.now() + stoodStillMs,
    ping: (pingId) => {
      pings.push(pingId);
      if (answers(pingId)) heartbeat.answered(pingId);
    },
    lost: () => (lost += 1),
  });
  heartbeat.start();
  return {
    heartbeat,
    pings,
    lost: () => lost,
    /** Nothing runs in this process meanwhile. */
    standStill: (ms: number) => (stoodStillMs += ms),
  };
}

describe("a heartbeat", () => {
  it("pings once a second, and misses nothing of a thread that answers", async () => {
    const { heartbeat, pings, lost } = started(() => true);
    await vi.advanceTimersByTimeAsync(60 * PING_INTERVAL_MS + SLACK_MS);
    expect(pings).toHaveLength(61);
    expect([heartbeat.missed, lost()]).toEqual([0, 0]);
  });

  it("loses a thread that answers nothing for three seconds, once, and is silent afterwards", async () => {
    const { heartbeat, pings, lost } = started((pingId) => pingId < 5);
    await vi.advanceTimersByTimeAsync(5 * PING_INTERVAL_MS + SLACK_MS);
    expect([heartbeat.missed, lost()]).toEqual([1, 0]);
    await vi.advanceTimersByTimeAsync(PING_INTERVAL_MS);
    expect([heartbeat.missed, lost()]).toEqual([2, 0]);
    await vi.advanceTimersByTimeAsync(PING_INTERVAL_MS);
    expect([heartbeat.missed, lost()]).toEqual([MAX_MISSED_PINGS, 1]);
    await vi.advanceTimersByTimeAsync(60 * PING_INTERVAL_MS);
    expect([pings.length, lost()]).toEqual([7, 1]);
  });

  it("begins anew when an answer comes late", async () => {
    const { heartbeat, lost } = started(() => false);
    for (let second = 0; second < 10; second += 1) {
      await vi.advanceTimersByTimeAsync(2 * PING_INTERVAL_MS);
      expect(heartbeat.missed).toBeGreaterThan(0);
      heartbeat.answered(2 * second + 1);
      expect(heartbeat.missed).toBe(0);
    }
    expect(lost()).toBe(0);
  });
});

describe("a process that stood still", () => {
  it("counts no ping of that time, however often it happens", async () => {
    const { heartbeat, lost, standStill } = started(() => false);
    for (let times = 0; times < 10; times += 1) {
      standStill(10_000);
      await vi.advanceTimersByTimeAsync(PING_INTERVAL_MS + SLACK_MS);
    }
    expect([heartbeat.missed, lost()]).toEqual([0, 0]);
    await vi.advanceTimersByTimeAsync(4 * PING_INTERVAL_MS);
    expect(lost()).toBe(1);
  });

  it("reads the answers that came meanwhile before it judges", async () => {
    const { heartbeat, lost } = started(() => false);
    for (let pingId = 1; pingId <= 10; pingId += 1) {
      vi.advanceTimersByTime(PING_INTERVAL_MS);
      // The timer has fired, and the immediate has not run yet.
      expect(heartbeat.missed).toBe(0);
      heartbeat.answered(pingId);
      await vi.advanceTimersByTimeAsync(1);
    }
    expect([heartbeat.missed, lost()]).toEqual([0, 0]);
  });

  it("stops when told to", async () => {
    const { heartbeat, pings } = started(() => true);
    heartbeat.stop();
    await vi.advanceTimersByTimeAsync(60 * PING_INTERVAL_MS);
    expect(pings).toEqual([1]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
