/**
 * The user did something: said words, typed, or pressed a key. A cough that becomes no turn is nothing.
 * Rules R61 and R64 of SPEC.md.
 */

import { update, type Draft } from "../draft.ts";

/** A soft end is cancelled, and the inactivity messages start over from the first. */
export function noteUserActivity(draft: Draft): void {
  update(draft, { softEnd: null });
  restartInactivity(draft);
}

/** The agent has said something, so the next duration counts from now; which message is next stays as it is. */
export function noteAgentActivity(draft: Draft): void {
  update(draft, { inactivity: { ...draft.state.inactivity, passedMs: 0, sinceAtMs: null } });
}

/** The messages of the stage from the first, the silence counted from 0; also for a stage that has just begun. */
export function restartInactivity(draft: Draft): void {
  update(draft, { inactivity: { next: 0, passedMs: 0, sinceAtMs: null } });
}
