import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NEVER, THREAD_RESTARTS, type RestartPolicy } from "./restarts.ts";
import { Supervisor, type Run, type RunEnd } from "./supervisor.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const START_MS = 1_000;
const FINISH = { ms: 500, reason: "it did not finish" };

function supervised(policy: RestartPolicy = THREAD_RESTARTS, duringStart = (_run: Run<string>) => {}) {
  const runs: Run<string>[] = [];
  const discarded: number[] = [];
  const ends: RunEnd<string>[] = [];
  let readyCount = 0;
  const supervisor = new Supervisor<number>({
    policy,
    start: (run) => {
      duringStart(run);
      return runs.push(run) - 1;
    },
    startLimit: { ms: START_MS, reason: "it did not start" },
    ready: () => (readyCount += 1),
    discard: (handle) => discarded.push(handle),
    ended: (end) => ends.push(end),
  });
  supervisor.start();
  const run = (index: number): Run<string> => {
    const found = runs[index];
    if (found === undefined) throw new Error(`there is no run ${String(index)}`);
    return found;
  };
  return { supervisor, runs, run, discarded, ends, readyCount: () => readyCount };
}

describe("a run", () => {
  it("is running at once, and ready when it says so", () => {
    const { supervisor, run, readyCount } = supervised();
    expect([supervisor.running, supervisor.ready]).toEqual([0, null]);
    run(0).ready();
    expect([supervisor.running, supervisor.ready, readyCount()]).toEqual([0, 0, 1]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("that is lost is discarded, and followed by the next, which alone is listened to", () => {
    const { supervisor, run, runs, discarded, ends } = supervised();
    run(0).ready();
    run(0).lost("it crashed");
    run(0).lost("it crashed again");
    run(0).ready();
    expect(runs).toHaveLength(2);
    expect([run(0).isOver, run(1).isOver]).toEqual([true, false]);
    expect([supervisor.running, supervisor.ready]).toEqual([1, null]);
    expect(discarded).toEqual([0]);
    expect(ends).toEqual([{ reason: "it crashed", wasReady: true, isFinished: false, restartsInMs: 0 }]);
  });

  it("that does not become ready in time is lost", async () => {
    const { supervisor, runs, discarded, ends } = supervised();
    await vi.advanceTimersByTimeAsync(START_MS - 1);
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toMatchObject([{ reason: "it did not start", wasReady: false, restartsInMs: null }]);
    expect([supervisor.running, runs.length, discarded]).toEqual([null, 1, [0]]);
  });

  it("that exceeds a limit is lost, unless the limit is cleared or replaced", async () => {
    const { supervisor, run, ends } = supervised();
    run(0).ready();
    supervisor.limit({ ms: 10, reason: "the first" });
    supervisor.limit({ ms: 20, reason: "the second" });
    await vi.advanceTimersByTimeAsync(15);
    supervisor.clearLimit();
    await vi.advanceTimersByTimeAsync(100);
    expect([ends, supervisor.hasLimit]).toEqual([[], false]);
    supervisor.limit({ ms: 10, reason: "the third" });
    await vi.advanceTimersByTimeAsync(10);
    expect(ends).toMatchObject([{ reason: "the third" }]);
  });

  it("that is lost while it starts is discarded too", () => {
    const { supervisor, discarded, ends } = supervised(NEVER, (run) => {
      run.lost("no memory");
    });
    expect([supervisor.running, discarded]).toEqual([null, [0]]);
    expect(ends).toHaveLength(1);
  });

  it("that fails too often is followed by the next after a pause, again and again", async () => {
    const { supervisor, run, runs, ends } = supervised();
    for (let index = 0; index <= THREAD_RESTARTS.restarts; index += 1) {
      run(index).ready();
      run(index).lost("it crashed");
    }
    expect(runs).toHaveLength(1 + THREAD_RESTARTS.restarts);
    expect(ends.at(-1)?.restartsInMs).toBe(60_000);
    expect(supervisor.running).toBeNull();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await vi.advanceTimersByTimeAsync(60_000);
      expect(runs).toHaveLength(1 + THREAD_RESTARTS.restarts + attempt);
      run(THREAD_RESTARTS.restarts + attempt).lost("it cannot load its model");
    }
    await vi.advanceTimersByTimeAsync(60_000);
    run(THREAD_RESTARTS.restarts + 4).ready();
    expect(supervisor.ready).toBe(THREAD_RESTARTS.restarts + 4);
  });

  it("waits for its turn where the policy has a backoff", async () => {
    const backoff = { firstMs: 100, longestMs: 1_000 };
    const policy = { restarts: Infinity, windowMs: 0, backoff, afterFailedStart: true };
    const { supervisor, run, runs } = supervised(policy);
    run(0).lost("it crashed");
    expect(supervisor.running).toBeNull();
    await vi.advanceTimersByTimeAsync(100);
    run(1).lost("it crashed");
    await vi.advanceTimersByTimeAsync(199);
    expect(runs).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toHaveLength(3);
    supervisor.succeeded();
    run(2).lost("it crashed");
    supervisor.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs).toHaveLength(3);
  });
});

describe("finishing", () => {
  it("asks the run, and resolves when it has ended", async () => {
    const { supervisor, run, runs, ends } = supervised();
    run(0).ready();
    const requested: number[] = [];
    const finished = supervisor.finish((handle) => requested.push(handle), FINISH);
    void supervisor.finish((handle) => requested.push(handle), FINISH);
    supervisor.clearLimit();
    expect(requested).toEqual([0]);
    expect(run(0).isOver).toBe(false);
    run(0).lost("the thread ended with code 0");
    await finished;
    expect(ends).toMatchObject([{ isFinished: true, restartsInMs: null }]);
    expect(runs).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("discards a run that takes too long", async () => {
    const { supervisor, run, discarded } = supervised();
    run(0).ready();
    const finished = supervisor.finish(() => undefined, FINISH);
    await vi.advanceTimersByTimeAsync(FINISH.ms);
    await finished;
    expect(discarded).toEqual([0]);
  });

  it("resolves at once between two runs, and after the last", async () => {
    const { supervisor, run } = supervised(NEVER);
    run(0).lost("it crashed");
    await expect(supervisor.finish(() => undefined, FINISH)).resolves.toBeUndefined();
  });
});

it("stopping hands the run over, listens to nothing more and leaves no timer", () => {
  const { supervisor, run, runs, ends, discarded } = supervised();
  run(0).ready();
  supervisor.limit({ ms: 10, reason: "too late" });
  expect(supervisor.stop()).toBe(0);
  expect(supervisor.stop()).toBeNull();
  run(0).lost("it was ended");
  expect([runs.length, ends, discarded, vi.getTimerCount()]).toEqual([1, [], [], 0]);
});
