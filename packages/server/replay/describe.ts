/** Formats one step of a call as readable lines. */

import type { CallState } from "../src/call/call.ts";
import type { ReplayedStep } from "./run.ts";

/** Longer values are cut: a prompt would hide what happened. */
const VALUE_MAX_CHARS = 160;

/** The fields that show where a call is; `--states` shows everything that changed. */
function place({ phase, connection, dataConnection, turn, reply, stage, outputMedium, shown }: CallState) {
  return {
    phase: phase.kind,
    connection: connection.kind,
    dataConnection,
    turn: turn.kind,
    reply: reply === null ? "none" : `${String(reply.replyId)} ${reply.playout}, ${reply.generation}`,
    stage: stage.stageId,
    outputMedium,
    shown,
  };
}

/** No lines for a voice score that changes nothing of note. */
export function describeStep(
  { event, before, after, effects, broken }: ReplayedStep,
  states: boolean,
): string[] {
  const changes = [
    ...changed(place(before), place(after)),
    ...(states ? changed(withoutClock(before), withoutClock(after)) : []),
  ];
  if (event.type === "voiceScored" && changes.length + effects.length + broken.length === 0) return [];
  const { type, atMs, ...fields } = event;
  return [
    `${clock(atMs)}  ${type} ${values(fields)}`.trimEnd(),
    ...changes.map((change) => `${INDENT}~ ${change}`),
    ...effects.map(({ type: effect, ...rest }) => `${INDENT}→ ${effect} ${values(rest)}`.trimEnd()),
    ...broken.map((invariant) => `${INDENT}! ${invariant}`),
  ];
}

const INDENT = " ".repeat(13);

function clock(atMs: number): string {
  return `${(atMs / 1_000).toFixed(3)} s`.padStart(11);
}

/** The clock changes with every event, and the plan never. */
function withoutClock({ clock: _clock, plan: _plan, ...rest }: CallState): Readonly<Record<string, unknown>> {
  return rest;
}

function changed(before: object, after: object): string[] {
  const then = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after).flatMap(([key, value]) => {
    const was = then.get(key);
    return was === value || JSON.stringify(was) === JSON.stringify(value)
      ? []
      : [`${key}: ${short(was)} → ${short(value)}`];
  });
}

function values(fields: object): string {
  return Object.entries(fields)
    .map(([key, value]) => `${key}=${short(value)}`)
    .join(" ");
}

function short(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "unset");
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= VALUE_MAX_CHARS
    ? line
    : `${line.slice(0, VALUE_MAX_CHARS)}… (${String(text.length)})`;
}
