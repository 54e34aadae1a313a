/**
 * Tools that the engine runs by itself: to hang up, with or without a message, and to play tones.
 * Rules R48, R49 and R167 of SPEC.md.
 */

import { DURATION_PATTERN, parseDurationMs } from "@parley/schema";
import type { Draft } from "../draft.ts";
import type { CallState } from "../state.ts";
import type { BuiltInTool, ToolPlan } from "../../plan/tool-plan.ts";
import { answerCall, failCall, plainAnswer, setProgress } from "./round.ts";
import type { ToolCall } from "./tool-state.ts";
import { parametersOf, valuesFor } from "./values.ts";

/** A telephone number with its extension has fewer; longer menus take another call. */
export const DTMF_DIGITS_MAX = 32;
/** Telephone exchanges take tones from 40 ms on; a second is longer than any of them needs. */
const TONE_MS = { usual: 200, min: 40, max: 1_000 };
const SPACE_MS = { usual: 100, min: 40, max: 1_000 };
const DIGITS = /^[0-9*#A-D]+$/;
/** Longer than carriers look for the end of a greeting; afterwards the message is said anyway. */
export const BEEP_LIMIT_MS = 45_000;
const VOICEMAIL_RESULT = "[Leaving voicemail...]";

/** Those that the engine runs by itself. */
const RUN_HERE = ["hangUp", "leaveVoicemail", "playDtmfSounds"] as const satisfies readonly BuiltInTool[];
type RunHere = (typeof RUN_HERE)[number];

export function runsHere(builtIn: BuiltInTool): builtIn is RunHere {
  return RUN_HERE.some((each) => each === builtIn);
}

export function runBuiltIn(draft: Draft, call: ToolCall, tool: ToolPlan, builtIn: RunHere): void {
  const { invocationId } = call;
  const parameters = parametersOf(valuesFor(draft.state, tool, call.arguments));
  const strict = parameters["strict"] !== false;
  switch (builtIn) {
    case "hangUp": {
      const reason = textOf(parameters["reason"]) || null;
      const consequence = { kind: "hangUp", strict, message: "", reason } as const;
      answerCall(draft, invocationId, { ...plainAnswer(tool.staticResponse ?? "OK"), consequence });
      return;
    }
    case "leaveVoicemail": {
      const deadlineAtMs = draft.state.clock.atMs + BEEP_LIMIT_MS;
      if (awaitsBeep(draft.state)) setProgress(draft, invocationId, { kind: "awaitingBeep", deadlineAtMs });
      else leaveMessage(draft, call, tool);
      return;
    }
    case "playDtmfSounds": {
      const digits = textOf(parameters["digits"]);
      if (DIGITS.test(digits) && digits.length <= DTMF_DIGITS_MAX)
        setProgress(draft, invocationId, { kind: "sounding", replyId: null });
      else {
        const why = `digits must be 1 to ${DTMF_DIGITS_MAX} of 0-9 * # A-D`;
        failCall(draft, call, { cause: "error", text: `The tool failed: ${why}`, errorDetails: why });
      }
    }
  }
}

/** The message is said once the round is complete, and ends the call. */
export function leaveMessage(draft: Draft, call: ToolCall, tool: ToolPlan): void {
  const parameters = parametersOf(valuesFor(draft.state, tool, call.arguments));
  const message = textOf(parameters["message"]);
  const strict = parameters["strict"] !== false;
  const consequence = { kind: "hangUp", strict, message, reason: "voicemail" } as const;
  const answer = plainAnswer(tool.staticResponse ?? VOICEMAIL_RESULT);
  answerCall(draft, call.invocationId, { ...answer, consequence });
}

/** Whether a carrier that reports the end of the greeting has not done so yet. */
function awaitsBeep({ plan, answerer }: CallState): boolean {
  if (plan.medium.detectsMessageEnd !== true) return false;
  return answerer === undefined || (answerer.isMachine && !answerer.greetingEnded);
}

export function tonesOf(state: CallState, tool: ToolPlan, call: ToolCall) {
  const parameters = parametersOf(valuesFor(state, tool, call.arguments));
  return {
    digits: textOf(parameters["digits"]),
    toneMs: lengthOf(parameters["toneDuration"], TONE_MS),
    spaceMs: lengthOf(parameters["spaceDuration"], SPACE_MS),
  };
}

/** A hang-up that user speech cannot cancel; what is being said before it is then said to its end. */
export function hangsUpStrictly(state: CallState, tool: ToolPlan | null, call: ToolCall): boolean {
  if (tool?.implementation.kind !== "builtIn" || call.problem !== null || call.knownResult !== null)
    return false;
  const { builtIn } = tool.implementation;
  if (builtIn !== "hangUp" && builtIn !== "leaveVoicemail") return false;
  return parametersOf(valuesFor(state, tool, call.arguments))["strict"] !== false;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function lengthOf(value: unknown, { usual, min, max }: typeof TONE_MS): number {
  if (typeof value !== "string" || !DURATION_PATTERN.test(value)) return usual;
  return Math.min(max, Math.max(min, parseDurationMs(value)));
}
