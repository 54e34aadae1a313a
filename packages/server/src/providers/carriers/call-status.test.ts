import { expect, test } from "vitest";
import { statusOf } from "./call-status.ts";

const nothing = { id: "CA1", status: undefined, answeredBy: undefined, seconds: undefined, detail: [] };

test.each([
  ["queued", "initiated", null],
  ["initiated", "initiated", null],
  ["ringing", "ringing", null],
  ["in-progress", "answered", null],
  ["answered", "answered", null],
  ["completed", "ended", "completed"],
  ["busy", "ended", "busy"],
  ["no-answer", "ended", "no_answer"],
  ["timeout", "ended", "no_answer"],
  ["failed", "ended", "failed"],
  ["canceled", "ended", "canceled"],
  ["cancel", "ended", "canceled"],
  ["machine", "ended", "machine"],
  ["COMPLETED", "ended", "completed"],
])("%s", (status, state, result) => {
  expect(statusOf({ ...nothing, status })).toMatchObject({ carrierCallId: "CA1", state, result });
});

test("says nothing of words that it does not know", () => {
  for (const status of [undefined, "", "x", "toString", "__proto__"]) {
    expect(statusOf({ ...nothing, status })).toBeNull();
  }
});

test("a result of the machine detection alone is about an answered call", () => {
  expect(statusOf({ ...nothing, answeredBy: "machine_start" })).toMatchObject({
    state: "answered",
    result: null,
    answeredBy: "machine_start",
  });
});

test("limits what it takes over", () => {
  const detail = ["a".repeat(300), "\u0000b\nc", undefined];
  const read = statusOf({ ...nothing, status: "failed", id: "x".repeat(300), seconds: "9999999", detail });
  expect(read?.carrierCallId).toBeNull();
  expect(read?.talkedMs).toBe(172_800_000);
  expect(read?.detail).toHaveLength(200);
  expect(statusOf({ ...nothing, status: "failed", seconds: "1e3", detail: ["", " "] })).toMatchObject({
    talkedMs: null,
    detail: null,
  });
  expect(statusOf({ ...nothing, status: "completed", seconds: "42" })?.talkedMs).toBe(42_000);
});
