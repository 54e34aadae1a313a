/** Health of the engines behind the call, and when one of them is given up. Rules R22, R26, R26a, R111 and R113 of SPEC.md. */

import { recordEvent } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import type { EventOf } from "../events.ts";
import { sentencesFor } from "../sentences.ts";
import type { CallState, EngineHealth } from "../state.ts";
import type { WantedTimers } from "../timers.ts";

export type EngineName = "stt" | "llm" | "tts";

export const HEALTHY: EngineHealth = {
  failures: 0,
  failingSinceMs: null,
  unneededSinceMs: null,
  retrying: false,
  lost: false,
};

const NOUNS: Readonly<Record<EngineName, string>> = {
  stt: "speech recognition",
  llm: "the language model",
  tts: "the voice",
};

/** Counts and records one failure. `severity` error: what the user should have heard or said is affected. */
export function noteFailure(
  draft: Draft,
  engine: EngineName,
  error: string,
  severity: "warning" | "error" = "warning",
): void {
  const { engines, clock } = draft.state;
  const health = engines[engine];
  setHealth(draft, engine, {
    ...health,
    failures: health.failures + 1,
    failingSinceMs: health.failingSinceMs ?? clock.atMs,
  });
  recordFailure(draft, engine, error, { severity, failures: health.failures + 1 });
  if (engine === "tts" && isPastLimit(draft.state, engine)) loseVoice(draft);
}

interface CountedFailure {
  readonly severity: "warning" | "error";
  readonly failures: number;
}

function recordFailure(draft: Draft, engine: EngineName, error: string, counted: CountedFailure): void {
  const { severity, failures } = counted;
  const text = `${NOUNS[engine]} failed: ${error}`;
  recordEvent(draft, { severity, type: `${engine}.failed`, text, extras: { failures } });
}

/** A failure of a voice that the call no longer speaks with says nothing about the present one. */
export function recordOldVoiceFailure(draft: Draft, error: string): void {
  recordFailure(draft, "tts", error, { severity: "error", failures: draft.state.engines.tts.failures });
}

/**
 * Gives the voice up. An external one is replaced by the default voice of the deployment, which has not failed yet.
 * Rule R26a.
 */
export function loseVoice(draft: Draft): void {
  const { stage } = draft.state;
  if (stage.voice.kind === "deployment") {
    markLost(draft, "tts");
    return;
  }
  update(draft, { stage: { ...stage, voice: { kind: "deployment", name: null } } });
  forgetFailures(draft, "tts");
  const text = "the voice of the call does not work; the default voice of this deployment speaks instead";
  recordEvent(draft, { severity: "warning", type: "voice.replaced", text }, true);
}

/** A step within a list of engines. It affects nobody by itself, so it is no failure of the call. */
export function noteReplacement(draft: Draft, event: EventOf<"engineReplaced">): void {
  const { engine, from, to, error } = event;
  const noun = NOUNS[engine];
  recordEvent(draft, {
    severity: error === null ? "info" : "warning",
    type: `${engine}.replaced`,
    text:
      error === null
        ? `${noun}: ${to} is used again in place of ${from}`
        : `${noun}: ${to} takes over from ${from}: ${error}`,
    extras: { from, to },
  });
}

/**
 * Whether the engine's sentences can be heard although the voice is broken. They are rendered with the voice of the
 * deployment only.
 */
export function hasSpareSpeech({ spareSpeech, stage }: CallState): boolean {
  return (
    spareSpeech !== undefined &&
    stage.voice.kind === "deployment" &&
    sentencesFor(spareSpeech.language) === sentencesFor(stage.languageHint)
  );
}

/**
 * All engines of a list have failed: whether the user is to be asked for patience. At most once until it works again.
 */
export function takeNotice(draft: Draft, engine: EngineName): boolean {
  const health = draft.state.engines[engine];
  if (health.noticed === true) return false;
  setHealth(draft, engine, { ...health, noticed: true });
  return true;
}

export function noteSuccess(draft: Draft, engine: EngineName): void {
  if (draft.state.engines[engine].failingSinceMs !== null) setHealth(draft, engine, HEALTHY);
}

export function setRetrying(draft: Draft, engine: EngineName, retrying: boolean): void {
  const health = draft.state.engines[engine];
  if (health.retrying !== retrying) setHealth(draft, engine, { ...health, retrying });
}

/** While a failing engine is not needed, its limit stands still: that time does not count as failure. */
export function setNeeded(draft: Draft, engine: EngineName, needed: boolean): void {
  const health = draft.state.engines[engine];
  const { failingSinceMs, unneededSinceMs } = health;
  const { atMs } = draft.state.clock;
  if (failingSinceMs === null || needed === (unneededSinceMs === null)) return;
  if (unneededSinceMs === null) setHealth(draft, engine, { ...health, unneededSinceMs: atMs });
  else {
    const movedMs = failingSinceMs + atMs - unneededSinceMs;
    setHealth(draft, engine, { ...health, failingSinceMs: movedMs, unneededSinceMs: null });
  }
}

function setHealth(draft: Draft, engine: EngineName, health: EngineHealth): void {
  update(draft, { engines: { ...draft.state.engines, [engine]: health } });
}

/** The call is given up in the same step; see `ending.ts`. */
export function markLost(draft: Draft, engine: EngineName): void {
  setHealth(draft, engine, { ...draft.state.engines[engine], lost: true });
}

/** The engine is no longer needed: its past failures do not count against its next use. */
export function forgetFailures(draft: Draft, engine: EngineName): void {
  if (draft.state.engines[engine] !== HEALTHY) setHealth(draft, engine, HEALTHY);
}

/** Whether it has failed without one success for as long as a call may wait. */
function isPastLimit(state: CallState, engine: EngineName): boolean {
  const since = state.engines[engine].failingSinceMs;
  return since !== null && state.clock.atMs - since >= state.plan.turnTaking.engineFailureLimitMs;
}

/**
 * Recogniser and model are retried without pause while they are needed, so their limit is a timer of that time. The
 * voice is judged at each failure instead: while it is not needed, its silence is no failure.
 */
export function engineTimers(state: CallState): WantedTimers {
  if (state.phase.kind !== "live") return {};
  return {
    sttLimit: limitTimer(state, "stt"),
    llmLimit: limitTimer(state, "llm"),
    replyRetry: state.engines.llm.retrying
      ? { key: `${state.engines.llm.failures}`, delayMs: state.plan.turnTaking.engineRetryDelayMs }
      : null,
  };
}

function limitTimer(state: CallState, engine: EngineName) {
  const { failingSinceMs: since, unneededSinceMs } = state.engines[engine];
  if (since === null || unneededSinceMs !== null) return null;
  const passedMs = state.clock.atMs - since;
  return { key: `${since}`, delayMs: state.plan.turnTaking.engineFailureLimitMs - passedMs };
}
