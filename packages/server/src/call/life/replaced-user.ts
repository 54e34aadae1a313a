/**
 * The other side has transferred the call, and somebody else has answered: the agent talks with them from now on.
 * Rule R192 of SPEC.md.
 */

import type { Draft } from "../draft.ts";
import { addNote } from "../history/history.ts";
import { passOpening } from "../reply/first-speaker.ts";
import { noteInput } from "../reply/reply.ts";
import { noteUserActivity } from "../turn/user-activity.ts";

const NOTE =
  "[The other side has transferred this call. Another person has just answered and is on the line from now on. They " +
  "have heard nothing of the conversation so far. Greet them.]";

/** What the agent is saying is said to its end; the greeting follows. */
export function onUserReplaced(draft: Draft): void {
  addNote(draft, NOTE);
  noteUserActivity(draft);
  passOpening(draft);
  noteInput(draft, { turn: null });
}
