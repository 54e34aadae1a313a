/**
 * A soft end: the agent says its last message like any other reply, and the call ends after it unless the user acts
 * meanwhile. A hang-up that is not strict and inactivity messages of soft end close a call this way.
 * Rules R60 to R62 of SPEC.md.
 */

import { debug } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import { CLOSE_REGULAR, endCall } from "./ending.ts";
import { startReply } from "../reply/reply.ts";
import { isSpeakable } from "../reply/segment.ts";

/** `message` null: the call ends as soon as the agent has finished what it is saying. */
export function endSoftly(draft: Draft, message: string | null): void {
  if (draft.state.phase.kind !== "live") return;
  debug(draft, "the call ends softly");
  const text = message !== null && isSpeakable(message) ? message : null;
  update(draft, { softEnd: { text } });
}

/**
 * The next step of a soft end, once the slot is free and the user is silent: the message, then the end. While the user
 * speaks this is not called, so speech that is under way when the message ends is awaited.
 */
export function settleSoftEnd(draft: Draft): void {
  const { softEnd, inputs } = draft.state;
  if (softEnd === null) return;
  if (softEnd.text === null) {
    endCall(draft, "agent_hangup", CLOSE_REGULAR, null);
    return;
  }
  update(draft, { softEnd: { text: null } });
  startReply(draft, { purpose: "farewell", text: softEnd.text, covers: inputs.answered });
}
