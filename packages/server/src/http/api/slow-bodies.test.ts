import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type BodyPace, LARGE_PACE, USUAL_PACE, watchPace } from "./slow-bodies.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function watched(pace: BodyPace) {
  const socket = { bytesRead: 1_000 };
  const request = Object.assign(new EventEmitter(), { socket, complete: false, destroyed: false });
  const refusals: string[] = [];
  const answer = new EventEmitter();
  watchPace(request as unknown as IncomingMessage, answer, pace, ({ code, detail }) => {
    refusals.push(`${code}: ${detail}`);
  });
  const pass = (seconds: number, bytesPerSecond: number): void => {
    for (let second = 0; second < seconds; second += 1) {
      socket.bytesRead += bytesPerSecond;
      vi.advanceTimersByTime(1_000);
    }
  };
  return { request, answer, refusals, pass };
}

it("ends with the answer, even when the body was never read", () => {
  const { answer, refusals, pass } = watched(USUAL_PACE);
  pass(5, 10_000);
  answer.emit("finish");
  pass(120, 0);
  expect(refusals).toEqual([]);
});

it("gives a usual body 30 s", () => {
  const { refusals, pass } = watched(USUAL_PACE);
  pass(29, 10_000);
  expect(refusals).toEqual([]);
  pass(60, 10_000);
  expect(refusals).toEqual(["validation_failed: The body came too slowly: it must arrive within 30 s."]);
});

it("lets a large body come for minutes if it comes steadily", () => {
  const { request, refusals, pass } = watched(LARGE_PACE);
  pass(299, 8_000);
  expect(refusals).toEqual([]);
  request.complete = true;
  pass(60, 0);
  expect(refusals).toEqual([]);
});

it("ends a large body that stalls, and one that never ends", () => {
  const stalled = watched(LARGE_PACE);
  stalled.pass(20, 8_000);
  stalled.pass(11, 1_000);
  const message =
    "The body came too slowly: it must arrive within 300 s, and at least 65536 bytes of it in any 10 s.";
  expect(stalled.refusals).toEqual([`validation_failed: ${message}`]);
  const endless = watched(LARGE_PACE);
  endless.pass(400, 8_000);
  expect(endless.refusals).toEqual([`validation_failed: ${message}`]);
});

it("watches no further than to the end of the request", () => {
  const { request, refusals, pass } = watched(LARGE_PACE);
  request.emit("close");
  pass(400, 0);
  expect(refusals).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});
