/**
 * Timer of the inactivity messages. Time counts while user and agent are silent and nothing is on its way; each message
 * comes its duration after the end of the one before. An interruption without words, such as a cough, pauses the count
 * and does not reset it; otherwise a noise every few seconds would hold an empty call open.
 * Rules R63 to R66 of SPEC.md.
 */

import { update, type Draft } from "../draft.ts";
import { hangUp } from "./ending.ts";
import type { InactivityMessagePlan } from "../../plan/plan.ts";
import { isHandingOver } from "./handing-over.ts";
import { isReplyDue, startReply } from "../reply/reply.ts";
import { endSoftly } from "./soft-end.ts";
import type { CallState, Inactivity } from "../state.ts";
import type { WantedTimers } from "../timers.ts";

export const NO_INACTIVITY: Inactivity = { next: 0, passedMs: 0, sinceAtMs: null };

/** User and agent are silent, and no pending work will make the agent speak. */
function isSilent(state: CallState): boolean {
  const { phase, connection, reply, turn, voice, opening, softEnd, toolRound } = state;
  return (
    phase.kind === "live" &&
    connection.kind === "connected" &&
    reply === null &&
    turn.kind === "quiet" &&
    !voice.speaking &&
    opening.kind === "none" &&
    softEnd === null &&
    toolRound === null &&
    !isReplyDue(state)
  );
}

/** Starts and stops the count. Called once a step, when the state has settled. */
export function settleInactivity(draft: Draft): void {
  const { inactivity, clock, reply } = draft.state;
  const { sinceAtMs } = inactivity;
  const silent = isSilent(draft.state);
  if (silent && sinceAtMs === null) {
    update(draft, { inactivity: { ...inactivity, sinceAtMs: clock.atMs } });
    return;
  }
  if (silent) return;
  // The agent's own speech is no activity of the user's, but the next duration counts from its end.
  const spoken = reply?.begun === true;
  const ranMs = sinceAtMs === null ? 0 : clock.atMs - sinceAtMs;
  const passedMs = spoken ? 0 : inactivity.passedMs + ranMs;
  if (sinceAtMs === null && passedMs === inactivity.passedMs) return;
  update(draft, { inactivity: { ...inactivity, passedMs, sinceAtMs: null } });
}

function nextMessage({ stage, inactivity }: CallState): InactivityMessagePlan | null {
  return stage.inactivityMessages[inactivity.next] ?? null;
}

export function inactivityTimers(state: CallState): WantedTimers {
  const message = nextMessage(state);
  const { next, passedMs, sinceAtMs } = state.inactivity;
  if (message === null || sinceAtMs === null) return {};
  return {
    inactivity: {
      key: `${state.stage.stageId}:${next}:${passedMs}:${sinceAtMs}`,
      delayMs: message.afterMs - passedMs,
    },
  };
}

export function onInactivityTimer(draft: Draft): void {
  const message = nextMessage(draft.state);
  // The process that continues the call says it.
  if (message === null || isHandingOver(draft.state)) return;
  const { inactivity, inputs } = draft.state;
  update(draft, { inactivity: { next: inactivity.next + 1, passedMs: 0, sinceAtMs: null } });
  if (message.endBehavior === "strict") hangUp(draft, message.text);
  else if (message.endBehavior === "soft") endSoftly(draft, message.text);
  else startReply(draft, { purpose: "reminder", text: message.text, covers: inputs.answered });
}
