import * as fc from "fast-check";
import { expect, it } from "vitest";
import { VAD_WINDOW_SAMPLES } from "../../ports/vad.ts";
import { VAD_QUEUE_WINDOWS, VAD_STREAM_QUEUE_WINDOWS, WindowQueue } from "./window-queue.ts";

const LIMIT = 4;

function take(queue: WindowQueue, limit = LIMIT): [streamId: number, first: number][] {
  return takeAll(queue, limit).map(({ streamId, first }) => [streamId, first]);
}

function takeAll(queue: WindowQueue, limit = LIMIT) {
  const [streamIds, skipped] = [new Int32Array(limit), new Int32Array(limit)];
  const windows = new Int16Array(limit * VAD_WINDOW_SAMPLES);
  const count = queue.take(limit, { streamIds, windows, skipped });
  return Array.from({ length: count }, (_, row) => ({
    streamId: streamIds[row] ?? -1,
    first: windows[row * VAD_WINDOW_SAMPLES] ?? -1,
    skipped: skipped[row] ?? -1,
  }));
}

function windowOf(value: number): Int16Array {
  return new Int16Array(VAD_WINDOW_SAMPLES).fill(value);
}

it("lets streams take turns, one window of each in a batch", () => {
  const queue = new WindowQueue();
  for (const value of [1, 2, 3]) queue.add(10, windowOf(value));
  queue.add(20, windowOf(4));
  queue.add(30, windowOf(5));
  expect(take(queue, 2)).toEqual([
    [10, 1],
    [20, 4],
  ]);
  expect(take(queue)).toEqual([
    [30, 5],
    [10, 2],
  ]);
  expect(take(queue)).toEqual([[10, 3]]);
  expect(take(queue)).toEqual([]);
});

it("leaves out the oldest windows of a stream that fills its own queue, and says how many", () => {
  const queue = new WindowQueue();
  const limit = VAD_STREAM_QUEUE_WINDOWS;
  for (let index = 0; index < limit; index++) expect(queue.add(1, windowOf(index))).toBe(false);
  for (const index of [limit, limit + 1]) expect(queue.add(1, windowOf(index))).toBe(true);
  expect(queue.add(2, windowOf(0))).toBe(false);
  expect(queue.windowCount).toBe(limit + 1);
  expect(takeAll(queue)).toEqual([
    { streamId: 1, first: 2, skipped: 2 },
    { streamId: 2, first: 0, skipped: 0 },
  ]);
  expect(takeAll(queue)).toEqual([{ streamId: 1, first: 3, skipped: 0 }]);
});

it("leaves out windows of the stream furthest behind when the whole is full", () => {
  const queue = new WindowQueue();
  for (let index = 0; index < VAD_STREAM_QUEUE_WINDOWS; index++) queue.add(99, windowOf(index));
  let streamId = 100;
  while (queue.windowCount < VAD_QUEUE_WINDOWS) queue.add(streamId++, ANY);
  for (let window = 0; window < 3; window++) expect(queue.add(5, windowOf(window))).toBe(true);
  expect(queue.windowCount).toBe(VAD_QUEUE_WINDOWS);
  expect(takeAll(queue, 1)).toEqual([{ streamId: 99, first: 3, skipped: 3 }]);
});

const ANY = windowOf(1);

it("takes a window of each stream, however many there are", () => {
  const queue = new WindowQueue();
  for (let streamId = 0; streamId < VAD_QUEUE_WINDOWS; streamId++) queue.add(streamId, ANY);
  expect(queue.add(VAD_QUEUE_WINDOWS, windowOf(2))).toBe(false);
  expect(queue.readyCount).toBe(VAD_QUEUE_WINDOWS + 1);
  expect(queue.add(VAD_QUEUE_WINDOWS, windowOf(3))).toBe(false);
  expect(queue.add(0, windowOf(4))).toBe(true);
  expect(queue.windowCount).toBe(VAD_QUEUE_WINDOWS + 2);
});

/** What a queue should do, in the plainest way. */
class PlainQueue {
  readonly own = new Map<number, number[]>();

  get waiting(): number[][] {
    return [...this.own.values()].filter((values) => values.length > 0);
  }

  add(streamId: number, value: number): void {
    this.own.set(streamId, [...(this.own.get(streamId) ?? []), value]);
  }

  /** The same batch, taken from here: what each of its streams had first. */
  takeLike(batch: readonly (readonly [number, number])[]): [number, number | undefined][] {
    return batch.map(([streamId]) => [streamId, this.own.get(streamId)?.shift()]);
  }
}

it("keeps each stream's order, never doubles a stream in a batch and counts right, whatever happens", () => {
  const action = fc.record({
    type: fc.constantFrom("add" as const, "take" as const, "remove" as const),
    value: fc.integer({ min: 1, max: 5 }),
  });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
      const queue = new WindowQueue();
      const plain = new PlainQueue();
      for (const [index, { type, value }] of actions.entries()) {
        if (type === "add") {
          queue.add(value, windowOf(index));
          plain.add(value, index);
        }
        if (type === "remove") {
          queue.remove(value);
          plain.own.delete(value);
        }
        const wanted = type === "take" ? Math.min(value, plain.waiting.length) : 0;
        const batch = type === "take" ? take(queue, value) : [];
        expect(batch).toHaveLength(wanted);
        expect(new Set(batch.map(([streamId]) => streamId)).size).toBe(wanted);
        expect(batch).toEqual(plain.takeLike(batch));
        expect(queue.windowCount).toBe(plain.waiting.flat().length);
        expect(queue.readyCount).toBe(plain.waiting.length);
      }
    }),
  );
});
