import { expect, test } from "vitest";
import { EMPTY_FEED, withMessage } from "./feed.ts";
import { isTimeToType } from "./typed-phrase.ts";

const greeted = withMessage(EMPTY_FEED, {
  type: "transcript",
  role: "agent",
  medium: "voice",
  text: "Good evening.",
  final: true,
  ordinal: 0,
});

test("an agent that opens the call speaks first, although the call begins as listening", () => {
  expect(isTimeToType("listening", true, EMPTY_FEED)).toBe(false);
  expect(isTimeToType("thinking", true, EMPTY_FEED)).toBe(false);
  expect(isTimeToType("speaking", true, greeted)).toBe(false);
  expect(isTimeToType("listening", true, greeted)).toBe(true);
});

test("nobody waits for an agent that waits for the user", () => {
  expect(isTimeToType("idle", false, EMPTY_FEED)).toBe(false);
  expect(isTimeToType("listening", false, EMPTY_FEED)).toBe(true);
});
