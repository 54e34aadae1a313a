import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { MemoryWatch, type MemoryUse } from "./memory-watch.ts";
import { MAX_EXTERNAL_BYTES, MAX_HEAP_BYTES } from "./thread-limits.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const MOST: MemoryUse = { heapBytes: MAX_HEAP_BYTES, externalBytes: MAX_EXTERNAL_BYTES };

function started(use: () => Promise<MemoryUse>) {
  let exceeded = 0;
  const looked = vi.fn<() => Promise<MemoryUse>>(use);
  const watch = new MemoryWatch({ use: looked, exceeded: () => (exceeded += 1) });
  watch.start();
  return { watch, looked, exceeded: () => exceeded };
}

it.each<[keyof MemoryUse]>([["heapBytes"], ["externalBytes"]])(
  "tells once of a thread whose %s exceed the limit",
  async (which) => {
    let now = MOST;
    const { looked, exceeded } = started(() => Promise.resolve(now));
    await vi.advanceTimersByTimeAsync(60_000);
    expect([looked.mock.calls.length > 100, exceeded()]).toEqual([true, 0]);
    now = { ...MOST, [which]: MOST[which] + 1 };
    await vi.advanceTimersByTimeAsync(1_000);
    expect(exceeded()).toBe(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(exceeded()).toBe(1);
  },
);

it("asks again only when it has its answer, and no thread that has ended or is not watched any more", async () => {
  const slow = started(() => new Promise(() => undefined));
  const ended = started(() => Promise.reject(new Error("it is not running")));
  const stopped = started(() => Promise.resolve(MOST));
  const late = Promise.withResolvers<MemoryUse>();
  const stoppedLate = started(() => late.promise);
  await vi.advanceTimersByTimeAsync(1_000);
  const looks = stopped.looked.mock.calls.length;
  stopped.watch.stop();
  stoppedLate.watch.stop();
  late.resolve({ ...MOST, heapBytes: MAX_HEAP_BYTES + 1 });
  await vi.advanceTimersByTimeAsync(60_000);
  expect([slow.looked.mock.calls.length, ended.looked.mock.calls.length]).toEqual([1, 1]);
  expect(stopped.looked).toHaveBeenCalledTimes(looks);
  expect(stoppedLate.exceeded()).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});
