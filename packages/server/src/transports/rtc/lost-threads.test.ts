import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NoLegError } from "./peer.ts";
import { LOST_THREAD_GRACE_MS } from "./remote-leg.ts";
import { failure, LIMIT, OPTIONS, OWNER, RANGE, threads } from "./testing/scripted-threads.ts";
import { LEGS_PER_THREAD } from "./thread-choice.ts";
import { MAX_HEAP_BYTES } from "./thread-limits.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a thread that is stuck", () => {
  it("gets no new leg once it has missed a ping, and another takes its place", async () => {
    const { pool, started, opened } = threads({ maxThreads: 1 });
    await opened(1);
    started[0]!.isStuck = true;
    await vi.advanceTimersByTimeAsync(1_999);
    const second = pool.open("offer", OPTIONS, OWNER);
    await vi.waitFor(() => expect(started[1]?.typesTold()).toEqual(["open"]), LIMIT);
    started[1]?.say({ type: "opened", legId: 1, opening: { kind: "webRtc", answer: "answer" } });
    expect((await second).answer).toBe("answer");
    expect(started[0]?.typesTold().filter((type) => type === "open")).toHaveLength(1);
  });

  it("does not hold the legs of others that look for a port", async () => {
    const { pool, started, opened } = threads({ maxThreads: 1 });
    await opened(1);
    started[0]!.isStuck = true;
    const [first, second] = [pool.open("one", RANGE, OWNER), pool.open("two", RANGE, OWNER)];
    const refused = failure(first);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(started[0]?.typesTold().filter((type) => type === "open")).toHaveLength(2);
    expect(started[1]?.typesTold()).toEqual(["open"]);
    started[1]?.say({ type: "opened", legId: 1, opening: { kind: "webRtc", answer: "answer" } });
    expect((await second).answer).toBe("answer");
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await refused).toBeInstanceOf(NoLegError);
  });

  it("is ended after three seconds, alone, and its calls wait for their clients", async () => {
    const { pool, started, log, lost, opened } = threads({ maxThreads: 2 });
    const { record, transport } = await opened(1);
    for (let i = 0; i < LEGS_PER_THREAD; i += 1) {
      void pool.open("offer", OPTIONS, OWNER).catch(() => undefined);
    }
    await vi.waitFor(() => expect(started[1]?.typesTold()).toEqual(["open"]), LIMIT);
    started[0]!.isStuck = true;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([started[0]?.isTerminated, started[1]?.isTerminated]).toEqual([true, false]);
    expect(lost).toEqual(["stuck"]);
    expect(log).toEqual([
      "a media thread ended, and its connections with it: it answered nothing for three seconds",
    ]);
    expect(record.closings).toEqual([{ regular: false, code: 1006 }]);
    expect(transport.graceMs).toBe(LOST_THREAD_GRACE_MS);
    expect(started).toHaveLength(2);
  });

  it("is replaced at once where no other is left, because its clients come back", async () => {
    const { started, opened } = threads();
    await opened(1);
    started[0]!.isStuck = true;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(started).toHaveLength(2);
    // The other one has no legs.
    started[1]!.isStuck = true;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([started[1]?.isTerminated, started.length]).toEqual([true, 2]);
  });

  it("gets legs again when it answers", async () => {
    const { pool, started, opened } = threads();
    await opened(1);
    started[0]!.isStuck = true;
    await vi.advanceTimersByTimeAsync(1_500);
    started[0]!.isStuck = false;
    await vi.advanceTimersByTimeAsync(10_000);
    void pool.open("offer", OPTIONS, OWNER).catch(() => undefined);
    await vi.waitFor(() => expect(started[0]?.sent.at(-1)?.type).toBe("open"), LIMIT);
    expect(started).toHaveLength(1);
  });
});

describe("a thread with too much memory", () => {
  it("ends when its heap is full, and says why", async () => {
    const { started, lost, opened } = threads();
    const { record, transport } = await opened(1);
    started[0]?.listener.ended("it reached its memory limit", true);
    expect(lost).toEqual(["memory"]);
    expect(record.closings).toEqual([{ regular: false, code: 1006 }]);
    expect(transport.graceMs).toBe(LOST_THREAD_GRACE_MS);
  });

  it("is ended before that, also while it is stuck", async () => {
    const { started, lost, opened } = threads();
    await opened(1);
    started[0]!.isStuck = true;
    started[0]!.heapBytes = MAX_HEAP_BYTES;
    await vi.advanceTimersByTimeAsync(900);
    expect(lost).toEqual([]);
    started[0]!.heapBytes += 1;
    await vi.advanceTimersByTimeAsync(900);
    expect([lost, started[0]?.isTerminated]).toEqual([["memory"], true]);
  });
});

it("a leg that was ended for faults is reported with its call", async () => {
  const { started, faulty, opened } = threads();
  await opened(1);
  const faults = { count: 5, detail: "SCTP: a chunk of length 0" };
  started[0]?.say({ type: "faulty", legId: 1, faults });
  started[0]?.say({ type: "faulty", legId: 9, faults });
  expect(faulty).toEqual([{ ...OWNER, ...faults }]);
});
