import { expect, test } from "vitest";
import type { CallEngineEvent } from "../call/events.ts";
import { EventLogger } from "./event-log.ts";

const event = (atMs: number): CallEngineEvent => ({ type: "timerFired", timerId: atMs, atMs });

test("a short call is kept whole, from its first state", () => {
  const log = new EventLogger<number>(0);
  for (let i = 0; i < 100; i += 1) log.add(i, event(i));
  expect(log.read().state).toBe(0);
  expect(log.read().events.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 100 }, (_, i) => i));
});

test("of a long one the last events are kept, with the state before them", () => {
  const log = new EventLogger<number>(0);
  // The state is the number of events applied.
  for (let i = 0; i < 50_000; i += 1) log.add(i, event(i));
  const { state, events } = log.read();
  expect(events.length).toBeGreaterThan(2_048);
  expect(events.length).toBeLessThanOrEqual(4_096);
  expect(events[0]?.atMs).toBe(state);
  expect(events.at(-1)?.atMs).toBe(49_999);
});
