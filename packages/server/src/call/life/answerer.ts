/**
 * Who has answered a call that was dialled, as the carrier finds out: a person or an answering machine.
 * Rules R165 to R167 of SPEC.md.
 */

import { update, type Draft } from "../draft.ts";
import type { EventOf } from "../events.ts";
import { addNote } from "../history/history.ts";
import { noteReplyDue } from "../reply/reply.ts";
import { leaveMessage } from "../tools/built-in.ts";
import { callsOf, toolNamed } from "../tools/round.ts";
import type { CallState } from "../state.ts";
import type { Answerer } from "./answerer-state.ts";

/** Carriers send a result twice, and a result that says less after one that says more. */
export function onAnswererDetected(draft: Draft, event: EventOf<"answererDetected">): void {
  const { answeredBy, isMachine, greetingEnded } = event;
  const { answerer, phase } = draft.state;
  if (answerer?.answeredBy === answeredBy || answerer?.greetingEnded === true) return;
  update(draft, { answerer: { answeredBy, isMachine, greetingEnded } });
  leaveAwaitedMessage(draft);
  if (phase.kind === "live") showAnswerer(draft);
}

/** A message that waited for the end of the greeting is said now, also where nobody is a machine. */
function leaveAwaitedMessage(draft: Draft): void {
  const { state } = draft;
  if (state.answerer?.isMachine === true && !state.answerer.greetingEnded) return;
  for (const call of callsOf(state)) {
    const tool = toolNamed(state, call.toolName);
    if (call.progress.kind === "awaitingBeep" && tool !== null) leaveMessage(draft, call, tool);
  }
}

/** The model learns that it talks to a machine, and is asked what to do unless it leaves a message already. */
export function showAnswerer(draft: Draft): void {
  const { answerer } = draft.state;
  if (answerer?.isMachine !== true) return;
  addNote(draft, noteFor(answerer));
  if (!leavesMessage(draft.state)) noteReplyDue(draft);
}

function leavesMessage(state: CallState): boolean {
  return callsOf(state).some(({ toolName }) => {
    const implementation = toolNamed(state, toolName)?.implementation;
    return implementation?.kind === "builtIn" && implementation.builtIn === "leaveVoicemail";
  });
}

function noteFor({ answeredBy, greetingEnded }: Answerer): string {
  const what = `[The carrier has detected that an answering machine has taken this call: ${answeredBy}.`;
  return greetingEnded ? `${what} Its greeting has ended, so a message can be left now.]` : `${what}]`;
}
