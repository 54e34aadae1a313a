/** Merges the messages and events of a call into one ordered list. */

import type { CallEvent, Message } from "@parley/schema";
import { turnEnginesOf, type TurnEngine } from "../engine-use-words.ts";
import { msOf } from "./call-words.ts";

export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** Latency from the end of the caller's speech; null if unknown. */
export interface Latency {
  readonly steps: readonly { readonly label: string; readonly ms: number }[];
  /** When the caller heard the answer. */
  readonly heardMs: number | null;
  /** The reply was started before the turn was over. */
  readonly speculative: boolean;
  /** What the turn has used of its engines; empty if unknown. */
  readonly engines: readonly TurnEngine[];
}

export interface SaidLine {
  readonly kind: "said";
  readonly key: string;
  readonly message: Message;
  readonly isAgent: boolean;
  readonly span: Span | null;
  readonly interrupted: boolean;
  /** The event of the interruption; null without one. */
  readonly interruption: CallEvent | null;
  readonly latency: Latency | null;
}

export interface ToolLine {
  readonly kind: "tool";
  readonly key: string;
  readonly name: string;
  readonly call: Message | null;
  readonly result: Message | null;
  readonly span: Span | null;
  /** From the invocation to its result; null without a result. */
  readonly tookMs: number | null;
}

export interface EventLine {
  readonly kind: "event";
  readonly key: string;
  /** The first of its kind. */
  readonly event: CallEvent;
  /** How many events this line stands for. */
  readonly count: number;
  readonly span: Span;
}

export type Line = SaidLine | ToolLine | EventLine;

/** Greatest delay between an event and the message that it belongs to. */
const SAME_MOMENT_MS = 250;
/** Greatest delay between the first audio of a reply and its first recorded word. */
const FIRST_WORD_MS = 2_000;

/** @param used events of what turns have used of engines */
export function linesOf(
  messages: readonly Message[],
  events: readonly CallEvent[],
  used: readonly CallEvent[] = [],
): readonly Line[] {
  const said = messages.filter(({ role }) => !isOfTool(role));
  const { latencies, interruptions, rest } = placed(said, events, used);
  const results = new Map(
    messages.flatMap((message) =>
      message.role === "MESSAGE_ROLE_TOOL_RESULT" && message.invocationId !== undefined
        ? [[message.invocationId, message] as const]
        : [],
    ),
  );
  const called = new Set(
    messages.flatMap(({ role, invocationId }) => (role === "MESSAGE_ROLE_TOOL_CALL" ? [invocationId] : [])),
  );
  const lines = messages.flatMap((message): Line[] => {
    if (message.role === "MESSAGE_ROLE_TOOL_CALL") {
      return [toolLine(message, results.get(message.invocationId ?? "") ?? null)];
    }
    if (message.role === "MESSAGE_ROLE_TOOL_RESULT") {
      // A result is shown with its invocation; a result without one gets its own line.
      return called.has(message.invocationId) ? [] : [toolLine(null, message)];
    }
    return [
      {
        kind: "said",
        key: keyOf(message),
        message,
        isAgent: message.role === "MESSAGE_ROLE_AGENT",
        span: spanOf(message.timespan),
        interrupted: message.metadata?.["interrupted"] === "true",
        interruption: interruptions.get(message) ?? null,
        latency: latencies.get(message) ?? null,
      },
    ];
  });
  return merged(lines, rest);
}

function isOfTool(role: Message["role"]): boolean {
  return role === "MESSAGE_ROLE_TOOL_CALL" || role === "MESSAGE_ROLE_TOOL_RESULT";
}

function keyOf({ callStageId, callStageMessageIndex }: Message): string {
  return `${callStageId}/${String(callStageMessageIndex)}`;
}

export function spanOf(timespan: Message["timespan"]): Span | null {
  const startMs = msOf(timespan?.start);
  const endMs = msOf(timespan?.end);
  return startMs === null || endMs === null ? null : { startMs, endMs };
}

function toolLine(call: Message | null, result: Message | null): ToolLine {
  const first = call ?? result;
  const begun = spanOf(call?.wallClockTimespan);
  const over = spanOf(result?.wallClockTimespan);
  return {
    kind: "tool",
    key: first === null ? "" : keyOf(first),
    name: first?.toolName ?? "tool",
    call,
    result,
    span: spanOf(first?.timespan),
    tookMs: begun === null || over === null ? null : Math.max(0, over.startMs - begun.startMs),
  };
}

/** Latencies and interruptions are attached to their message; other events are lines between messages. */
function placed(
  said: readonly Message[],
  events: readonly CallEvent[],
  used: readonly Pick<CallEvent, "extras">[],
) {
  const uses = new Map(used.map(({ extras }) => [extras?.["turnId"], turnEnginesOf(extras)]));
  const latencies = new Map<Message, Latency>();
  const interruptions = new Map<Message, CallEvent>();
  const agents = said.flatMap((message) => {
    const span = spanOf(message.timespan);
    return message.role === "MESSAGE_ROLE_AGENT" && span !== null ? [{ message, span }] : [];
  });
  const rest = events.filter((event) => {
    const atMs = msOf(event.callTimestamp) ?? 0;
    if (event.type === "turn.completed") {
      const answer = agents.find(
        ({ message, span }) =>
          !latencies.has(message) &&
          span.startMs >= atMs - SAME_MOMENT_MS &&
          span.startMs <= atMs + FIRST_WORD_MS,
      );
      const turnId = event.extras?.["turnId"];
      const latency = latencyOf(event, typeof turnId === "number" ? uses.get(turnId) : undefined);
      if (answer === undefined || latency === null) return true;
      latencies.set(answer.message, latency);
      return false;
    }
    if (event.type === "turn.interrupted") {
      const cut = agents.find(
        ({ message, span }) =>
          message.metadata?.["interrupted"] === "true" &&
          !interruptions.has(message) &&
          Math.abs(span.endMs - atMs) <= SAME_MOMENT_MS,
      );
      if (cut === undefined) return true;
      interruptions.set(cut.message, event);
      return false;
    }
    return true;
  });
  return { latencies, interruptions, rest };
}

const STEPS = [
  ["endOfTurnMs", "End of turn detected"],
  ["transcriptFinalMs", "Transcript"],
  ["firstTokenMs", "First model token"],
  ["firstSentenceMs", "First model sentence"],
  ["firstAudioMs", "First audio"],
  ["firstPlayedMs", "Heard by the caller"],
] as const;

/** Null if the event has no steps. */
export function latencyOf(
  { extras }: Pick<CallEvent, "extras">,
  engines: readonly TurnEngine[] = [],
): Latency | null {
  const steps = STEPS.flatMap(([name, label]) => {
    const ms = extras?.[name];
    return typeof ms === "number" ? [{ label, ms }] : [];
  });
  const heard = extras?.["firstPlayedMs"];
  if (steps.length === 0) return null;
  return {
    steps,
    heardMs: typeof heard === "number" ? heard : null,
    speculative: extras?.["speculative"] === true,
    engines,
  };
}

function isFault({ severity }: CallEvent): boolean {
  return severity === "warning" || severity === "error";
}

/** A fault that repeats is one line with a number, so that the conversation stays in view. */
function isSameFault(line: Line, { type, text }: CallEvent): boolean {
  return line.kind === "event" && line.event.type === type && line.event.text === text;
}

/** Messages keep their order; an event comes before the first message that did not start before it. */
function merged(lines: readonly Line[], events: readonly CallEvent[]): readonly Line[] {
  const all: Line[] = [];
  let next = 0;
  const takeUntil = (atMs: number) => {
    for (;;) {
      const event = events[next];
      const eventMs = event === undefined ? null : (msOf(event.callTimestamp) ?? 0);
      if (event === undefined || eventMs === null || eventMs > atMs) return;
      const span = { startMs: eventMs, endMs: eventMs };
      const at = isFault(event) ? all.findLastIndex((line) => isSameFault(line, event)) : -1;
      const known = all[at];
      if (known?.kind === "event") all[at] = { ...known, count: known.count + 1 };
      else all.push({ kind: "event", key: `event/${String(next)}`, event, count: 1, span });
      next += 1;
    }
  };
  for (const line of lines) {
    // Messages without a time keep their place; the end of a call comes after the last message.
    if (line.span !== null) takeUntil(line.span.startMs);
    all.push(line);
  }
  takeUntil(Number.POSITIVE_INFINITY);
  return all;
}

/** Index of the line that is audible at a time; -1 without one. */
export function lineAt(lines: readonly Line[], atMs: number): number {
  let found = -1;
  for (const [index, { kind, span }] of lines.entries()) {
    if (kind !== "said" || span === null || span.startMs > atMs) continue;
    if (span.endMs > atMs) found = index;
  }
  return found;
}
