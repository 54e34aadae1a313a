/**
 * The stored form of a call: JSON lines. The first line has the head, the last one the summary. Between them a line is
 * one event with the effects that the engine gave, or a run of voice scores without effects, 32 ms apart.
 */

import { readFileSync } from "node:fs";
import { initialState, step, type CallState } from "../../src/call/call.ts";
import type { CallEffect } from "../../src/call/effects.ts";
import type { CallEngineEvent, EventOf } from "../../src/call/events.ts";
import { InvariantChecker } from "../../src/call/testing/invariants.ts";
import type { CallPlan } from "../../src/plan/plan.ts";
import { deepFreeze } from "../../src/call/testing/deep-freeze.ts";
import type { Sound } from "./conversations.ts";
import { summarise, type Summary } from "./summary.ts";

const FOLDER = new URL("../../../../fixtures/event-logs/", import.meta.url);
const WINDOW_MS = 32;
/** Scores in one line of the file, about 100 characters. */
const SCORES_PER_LINE = 16;

export interface LogHead {
  readonly name: string;
  readonly about: string;
  readonly sounds: readonly Sound[];
  readonly plan: CallPlan;
}

/** An event and all effects that the engine returned for it. */
export interface Step {
  readonly event: CallEngineEvent;
  readonly effects: readonly CallEffect[];
}

export interface EventLog {
  readonly head: LogHead;
  readonly steps: readonly Step[];
  readonly summary: Summary;
}

type ScoreEvent = EventOf<"voiceScored">;
type Line = LogHead | Step | ScoresLine | { readonly summary: Summary };

interface ScoresLine {
  /** End of the first window, on the call's clock and in received media alike. */
  readonly firstMs: number;
  readonly scores: readonly number[];
}

export function logUrl(name: string): URL {
  return new URL(`${name}.jsonl`, FOLDER);
}

export function formatLog({ head, steps, summary }: EventLog): string {
  const lines: Line[] = [head];
  for (const { event, effects } of steps) {
    const plain = event.type === "voiceScored" && effects.length === 0 && event.atMs === event.mediaMs;
    const run = lines.at(-1);
    if (!plain) lines.push({ event, effects });
    else if (run !== undefined && "scores" in run && continues(run, event.mediaMs)) {
      lines[lines.length - 1] = { ...run, scores: [...run.scores, event.score] };
    } else lines.push({ firstMs: event.mediaMs, scores: [event.score] });
  }
  lines.push({ summary });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function continues({ firstMs, scores }: ScoresLine, mediaMs: number): boolean {
  return scores.length < SCORES_PER_LINE && mediaMs === firstMs + scores.length * WINDOW_MS;
}

export function readLogText(name: string): string {
  return readFileSync(logUrl(name), "utf8");
}

export function parseLog(text: string): EventLog {
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  const [head] = lines;
  const last = lines.at(-1);
  if (head === undefined || !("plan" in head)) throw new Error("the first line is no head of an event log");
  if (last === undefined || !("summary" in last)) throw new Error("the last line is no summary");
  return { head, steps: lines.slice(1, -1).flatMap((line) => stepsOf(line)), summary: last.summary };
}

function stepsOf(line: Line): readonly Step[] {
  if ("scores" in line) {
    return line.scores.map((score, index) => {
      const atMs = line.firstMs + index * WINDOW_MS;
      return { event: { type: "voiceScored", score, mediaMs: atMs, atMs }, effects: [] };
    });
  }
  if ("event" in line) return [line];
  throw new Error("a line of the event log has neither scores nor an event");
}

/** The scores of all windows, in order. */
export function scoresOf(steps: readonly Step[]): number[] {
  return steps
    .map(({ event }) => event)
    .filter((event): event is ScoreEvent => event.type === "voiceScored")
    .map(({ score }) => score);
}

/** The engine's answers to these events; throws at the first broken invariant or changed argument. */
export function replay(head: LogHead, events: readonly CallEngineEvent[]): EventLog {
  const checker = new InvariantChecker();
  let state: CallState = deepFreeze(initialState(head.plan));
  const steps = events.map((event) => {
    const before = state;
    const { state: after, effects } = step(before, deepFreeze(event));
    state = deepFreeze(after);
    const broken = checker.observe({ before, event, after, effects });
    if (broken.length > 0) throw new Error(`at ${event.atMs} ms, ${event.type}: ${broken.join("; ")}`);
    return { event, effects };
  });
  return { head, steps, summary: summarise(steps) };
}
