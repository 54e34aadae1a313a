/** The type of a kind of trouble, and what the kinds share. */

import type { PlanChanges } from "../src/call/testing/plan.ts";
import type { Scenario } from "../src/call/testing/scenario.ts";
import type { Draw } from "./draw.ts";

export interface Kind {
  readonly plan?: (draw: Draw) => PlanChanges;
  /** Plays the trouble; the call continues afterwards unless it has ended. */
  readonly play: (call: Scenario, draw: Draw) => void;
  /** Checked at the end of a call that went on, besides the invariants of every call. */
  readonly expect?: (call: Scenario) => void;
}

const SENTENCES = [
  "Do you have a room for tonight",
  "I would like to book a table for two",
  "What does it cost",
  "Can you hear me",
] as const;

export const ANSWER =
  "Yes, we have three rooms left. The smallest is on the second floor. Shall I book it for you?";
/** It asks no question, so a listening word is not an answer. */
export const STORY =
  "We have three rooms left. The smallest is on the second floor. It is a quiet one, and it looks at the garden.";

/** An interruption falls on every multiple of this, from the end of the question to the end of the answer. */
export const SWEEP_STEP_MS = 20;
export const SWEEP_STEPS = 400;

export function asks(call: Scenario, draw: Draw): void {
  const text = draw.one(SENTENCES);
  call.run(draw.whole(0, 3_000)).says(text, draw.whole(400, 2_000));
}

export function sometime(call: Scenario, draw: Draw): Scenario {
  return call.run(draw.whole(0, SWEEP_STEPS) * SWEEP_STEP_MS);
}
