import { expect, test } from "vitest";
import { MusicLoop } from "./music-loop.ts";

const framesOf = (loop: MusicLoop, count: number, length: number): (number[] | null)[] =>
  Array.from({ length: count }, () => {
    const frame = loop.next(length);
    return frame === null ? null : [...frame];
  });

test("music begins again after its end, also within a frame", () => {
  const loop = new MusicLoop();
  loop.set(Int16Array.from([1, 2, 3, 4, 5]));
  expect(framesOf(loop, 3, 4)).toEqual([
    [1, 2, 3, 4],
    [5, 1, 2, 3],
    [4, 5, 1, 2],
  ]);
});

test("music that is shorter than a frame fills it", () => {
  const loop = new MusicLoop();
  loop.set(Int16Array.from([7, 8]));
  expect(framesOf(loop, 1, 5)).toEqual([[7, 8, 7, 8, 7]]);
});

test("no music, and empty music, is nothing", () => {
  const loop = new MusicLoop();
  expect(framesOf(loop, 1, 4)).toEqual([null]);
  loop.set(new Int16Array(0));
  expect(framesOf(loop, 1, 4)).toEqual([null]);
  loop.set(Int16Array.from([1]));
  loop.set(null);
  expect(framesOf(loop, 1, 4)).toEqual([null]);
});
