/**
 * When a snapshot is due: after each step that changes what a process that continues the call must know.
 * Rule R180 of SPEC.md.
 */

import type { CallEffect } from "../effects.ts";
import type { CallState, Reply } from "../state.ts";
import type { SideThreads } from "../threads/thread-state.ts";

/**
 * A tool whose call leaves the service with this effect: it may act before its answer is known, so that it is sent only
 * while no other process can have taken the call (R175).
 */
export function sendsTool(effect: CallEffect): boolean {
  if (effect.type === "invokeTool") return true;
  if (effect.type === "sendDataMessage") return effect.message.type === "client_tool_invocation";
  return (
    effect.type === "sendDataConnectionMessage" && effect.message.type === "data_connection_tool_invocation"
  );
}

/** Parts whose every change counts. They are replaced only when they change. */
const PARTS = [
  "callState",
  "flags",
  "forced",
  "inputs",
  "opening",
  "outputMedium",
  "phase",
  "softEnd",
  "stage",
  "toolRound",
] as const satisfies readonly (keyof CallState)[];

/** Whether the step from `before` to `after`, with these effects, must be in a snapshot. */
export function isSnapshotDue(before: CallState, after: CallState, effects: readonly CallEffect[]): boolean {
  if (after.phase.kind !== "live" && after.phase.kind !== "parting") return false;
  if (before.history.version !== after.history.version) return true;
  if (PARTS.some((part) => before[part] !== after[part])) return true;
  if (progressOf(before.reply) !== progressOf(after.reply)) return true;
  if (before.sideThreads !== after.sideThreads && haveThreadsMoved(before.sideThreads, after.sideThreads)) {
    return true;
  }
  return effects.some(sendsTool);
}

/** How far a reply has come: by sentences, not by words. */
function progressOf(reply: Reply | null): string {
  if (reply?.begun !== true) return "";
  const isKnown = reply.generation !== "running";
  const heard = reply.segments.reduce((sum, { status }) => sum + (status === "played" ? 1 : 0), 0);
  return `${String(reply.replyId)} ${String(heard)} ${String(isKnown)} ${String(reply.calls.length)}`;
}

/** The text of a generation that is under way is lost with its process. */
function haveThreadsMoved(before: SideThreads, after: SideThreads): boolean {
  if (before.list.length !== after.list.length) return true;
  return after.list.some((thread, at) => {
    const earlier = before.list[at];
    return (
      earlier === undefined ||
      thread.history !== earlier.history ||
      thread.round !== earlier.round ||
      thread.inbox !== earlier.inbox ||
      thread.callState !== earlier.callState ||
      thread.fault !== earlier.fault
    );
  });
}
