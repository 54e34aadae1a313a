import { expect, test } from "vitest";
import { RtpTimes } from "./rtp-times.ts";

test("frames follow on one another, whatever the jitter of the one who sends them", () => {
  const times = new RtpTimes(10, 1_000);
  const places = [0, 0.1, 45, 60, 130].map((atMs) => times.next(atMs));
  expect(places.map(({ sequence }) => sequence)).toEqual([10, 11, 12, 13, 14]);
  expect(places.map(({ timestamp }) => timestamp)).toEqual([1_000, 1_960, 2_920, 3_880, 4_840]);
  expect(places.map(({ marker }) => marker)).toEqual([true, false, false, false, false]);
});

test("a pause keeps its length and is marked", () => {
  const times = new RtpTimes(0, 0);
  times.next(0);
  expect(times.next(2_000)).toEqual({ sequence: 1, timestamp: 96_000, marker: true });
  expect(times.next(2_020)).toEqual({ sequence: 2, timestamp: 96_960, marker: false });
});

test("both numbers wrap around", () => {
  const times = new RtpTimes(0xffff, 2 ** 32 - 960);
  expect(times.next(0)).toMatchObject({ sequence: 0xffff, timestamp: 2 ** 32 - 960 });
  expect(times.next(20)).toMatchObject({ sequence: 0, timestamp: 0 });
});
