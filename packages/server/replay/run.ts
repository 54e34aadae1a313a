/** Runs a stored call through the current engine. */

import { initialState, step, type CallState } from "../src/call/call.ts";
import type { CallEffect } from "../src/call/effects.ts";
import type { CallEngineEvent } from "../src/call/events.ts";
import { InvariantChecker } from "../src/call/testing/invariants.ts";
import type { ReadLog } from "./read-log.ts";

export interface ReplayedStep {
  readonly event: CallEngineEvent;
  readonly before: CallState;
  readonly after: CallState;
  readonly effects: readonly CallEffect[];
  /** The invariants that this step broke, in words; a throw of the engine counts as one. */
  readonly broken: readonly string[];
}

export interface ReplayResult {
  readonly broken: number;
  /** Null when there was no event. */
  readonly last: CallState | null;
}

/** Ends early where the engine throws: there is no state to continue from. */
export function replayLog(
  { plan, events }: Pick<ReadLog, "plan" | "events">,
  take: (step: ReplayedStep) => void,
): ReplayResult {
  let checker = new InvariantChecker();
  let state = initialState(plan);
  let broken = 0;
  for (const event of events) {
    const before = state;
    let next: ReturnType<typeof step>;
    try {
      next = step(before, event);
    } catch (error) {
      const thrown = error instanceof Error ? (error.stack ?? error.message) : String(error);
      take({ event, before, after: before, effects: [], broken: [`the engine threw: ${thrown}`] });
      return { broken: broken + 1, last: state };
    }
    state = next.state;
    // Another process: its timers, utterances and playout are its own.
    if (event.type === "adopted") checker = new InvariantChecker(event.snapshot.state);
    const found = checker.observe({ before, event, after: state, effects: next.effects });
    broken += found.length;
    take({ event, before, after: state, effects: next.effects, broken: found });
  }
  return { broken, last: events.length === 0 ? null : state };
}
