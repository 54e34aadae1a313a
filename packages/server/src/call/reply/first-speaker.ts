/** Who speaks first, and what the agent opens with. Rules R3 to R5 of SPEC.md. */

import { update, type Draft } from "../draft.ts";
import { asksForAnswer } from "../history/history.ts";
import type { CallPlan } from "../../plan/plan.ts";
import { startReply } from "./reply.ts";
import type { CallState, Opening } from "../state.ts";
import type { WantedTimers } from "../timers.ts";

/** Shown to the model for its first generation when nothing in the history asks for an answer. */
export const GREETING_INSTRUCTION = "The call has just begun. Greet the user briefly, as your role asks for.";

const NO_OPENING: Opening = {
  kind: "none",
  text: null,
  prompt: null,
  delayMs: 0,
  uninterruptible: false,
  first: "user",
};

/** The opening that is planned at the join; a wait of 0 ms ends at once. */
export function plannedOpening({ firstSpeaker }: CallPlan): Opening {
  if (firstSpeaker.kind === "agent") {
    const { text, prompt, delayMs, uninterruptible } = firstSpeaker;
    return { kind: delayMs > 0 ? "delayed" : "due", text, prompt, delayMs, uninterruptible, first: "agent" };
  }
  if (firstSpeaker.fallback === null) return NO_OPENING;
  const { text, prompt, delayMs } = firstSpeaker.fallback;
  return {
    kind: delayMs > 0 ? "delayed" : "due",
    text,
    prompt,
    delayMs,
    uninterruptible: false,
    first: "user",
  };
}

export function openingTimers({ phase, opening }: CallState): WantedTimers {
  if (phase.kind !== "live" || opening.kind !== "delayed") return {};
  return { opening: { key: "opening", delayMs: opening.delayMs } };
}

export function onOpeningTimer(draft: Draft): void {
  const { opening } = draft.state;
  if (opening.kind === "delayed") update(draft, { opening: { ...opening, kind: "due" } });
}

/** Whether the opening is dropped when the user is first: a fixed text of a first-speaking agent must be said. */
export function openingYields({ opening }: CallState): boolean {
  if (opening.kind === "none" || opening.first === "user") return true;
  return opening.text === null && !opening.uninterruptible;
}

/** The user was first: the opening is dropped, or, where it must be said, said now and before any answer. */
export function passOpening(draft: Draft): void {
  const { opening } = draft.state;
  if (opening.kind === "none") return;
  update(draft, { opening: { ...opening, kind: openingYields(draft.state) ? "none" : "due" } });
}

/**
 * Starts the opening that is due, once the slot is free and the user is silent. It stays due until its first sound, so
 * that a failing model or voice does not lose it.
 */
export function startOpening(draft: Draft): void {
  const { opening, plan, inputs, engines } = draft.state;
  const { text, prompt, uninterruptible } = opening;
  if (text !== null && text.trim() !== "") {
    startReply(draft, { purpose: "opening", text, uninterruptible, covers: inputs.answered });
    return;
  }
  if (engines.llm.retrying) return;
  const greets = plan.greetingPrompt && !asksForAnswer(draft.state);
  startReply(draft, {
    purpose: "opening",
    text: null,
    instruction: prompt ?? (greets ? GREETING_INSTRUCTION : null),
    uninterruptible,
    covers: inputs.received,
  });
}
