import * as fc from "fast-check";
import { expect, it } from "vitest";
import { VAD_WINDOW_SAMPLES } from "../../ports/vad.ts";
import { VAD_QUEUE_WINDOWS, VAD_STREAM_QUEUE_WINDOWS, WindowQueue } from "./window-queue.ts";

const LIMIT = 4;

function take(queue: WindowQueue, limit = LIMIT): [streamId: number, first: number][] {
  const ids = new Int32Array(limit);
  const windows = new Int16Array(limit * VAD_WINDOW_SAMPLES);
  const count = queue.take(limit, ids, windows);
  return Array.from({ length: count }, (_, row) => [ids[row] ?? -1, windows[row * VAD_WINDOW_SAMPLES] ?? -1]);
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

it("names the stream that fills its own queue", () => {
  const queue = new WindowQueue();
  for (let index = 0; index < VAD_STREAM_QUEUE_WINDOWS; index++) expect(queue.add(1, windowOf(0))).toBeNull();
  expect(queue.add(1, windowOf(0))).toBe(1);
  expect(queue.add(2, windowOf(0))).toBeNull();
});

it("names the stream furthest behind when the whole is full, and has room once it is gone", () => {
  const queue = new WindowQueue();
  for (let index = 0; index < VAD_STREAM_QUEUE_WINDOWS; index++) queue.add(99, windowOf(0));
  let streamId = 100;
  while (queue.windowCount < VAD_QUEUE_WINDOWS) expect(queue.add(streamId++, windowOf(0))).toBeNull();
  expect(queue.add(5, windowOf(0))).toBe(99);
  queue.remove(99);
  expect(queue.windowCount).toBe(VAD_QUEUE_WINDOWS - VAD_STREAM_QUEUE_WINDOWS);
  expect(queue.add(5, windowOf(0))).toBeNull();
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
