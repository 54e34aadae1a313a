import { expect, test } from "vitest";
import { step } from "./call.ts";
import { joinedCall } from "./testing/scenario.ts";

test("a spoken turn is answered", () => {
  const call = joinedCall().run(500).says("I want a table", 1200).run(8000);
  expect(call.transcript).toEqual([
    "user: I want a table",
    "agent: You said I want a table. That is understood. What else can I do for you?",
  ]);
  expect(call.states).toEqual(["listening", "thinking", "speaking", "listening"]);
});

test("an event with an earlier time does not turn the clock back", () => {
  const { state } = joinedCall().run(5_000);
  const { state: next } = step(state, { type: "timerFired", timerId: 0, atMs: 12 });
  expect(next.clock.atMs).toBe(state.clock.atMs);
});

test("an hour of talk is one call", () => {
  const call = joinedCall();
  for (let n = 0; n < 120; n += 1) call.run(320).says("Good morning", 640).run(29_000);
  expect(call.transcript).toHaveLength(240);
  expect(call.atMs).toBeGreaterThan(3_590_000);
  expect(Object.keys(call.state.timers)).toEqual(["maxDuration"]);
});
