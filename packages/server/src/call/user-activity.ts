/** The user did something: said words, typed, or pressed a key. A cough that becomes no turn is nothing. */

import { update, type Draft } from "./draft.ts";

/** A soft end is called off, and the inactivity messages start over from the first (D132, D134). */
export function noteUserActivity(draft: Draft): void {
  update(draft, { softEnd: null, inactivity: { ...draft.state.inactivity, next: 0, passedMs: 0 } });
}
