/**
 * Lossless codec for the events of a call as JSON lines. Runs of voice scores, nine events of ten, share a line: a
 * sixth of what they take one by one.
 */

import type { CallSnapshot } from "./adoption/snapshot.ts";
import type { CallEngineEvent, EventOf } from "./events.ts";
import type { ToolCall } from "./tools/tool-state.ts";
import type { CallPlan, StageDocument, StagePlan } from "../plan/plan.ts";
import type { ToolPlan } from "../plan/tool-plan.ts";
import type { VoicePlan } from "../plan/voice-plan.ts";

type ListedTool = StageDocument["tools"][number];
type VoiceScored = EventOf<"voiceScored">;

interface VoiceRun {
  /** Scores of consecutive windows. */
  readonly scores: readonly number[];
  /** End of the first window. */
  readonly mediaMs: number;
  /** The first time, then differences. */
  readonly atMs: readonly number[];
  /** Where any window has one; null: unset. */
  readonly echo?: readonly (number | null)[];
}

export type LogLine =
  | { readonly kind: "events"; readonly events: readonly CallEngineEvent[] }
  /** A note for the reader of the log, such as that it ends early. */
  | { readonly kind: "note"; readonly note: string };

const WINDOW_MS = 32;
/** A line of some 500 characters. */
const SCORES_PER_LINE = 64;

/** Each line ends with a line feed. */
export function formatEvents(events: readonly CallEngineEvent[]): string {
  const lines: string[] = [];
  let run: VoiceScored[] = [];
  const endRun = () => {
    if (run.length > 0) lines.push(JSON.stringify(runOf(run)));
    run = [];
  };
  for (const event of events) {
    if (event.type !== "voiceScored") {
      endRun();
      lines.push(JSON.stringify(event));
      continue;
    }
    const last = run.at(-1);
    if (last !== undefined && (run.length >= SCORES_PER_LINE || event.mediaMs !== last.mediaMs + WINDOW_MS)) {
      endRun();
    }
    run.push(event);
  }
  endRun();
  return lines.map((line) => `${line}\n`).join("");
}

export function formatNote(note: string): string {
  return `${JSON.stringify({ note })}\n`;
}

/** @throws SyntaxError or Error for a line that `formatEvents` did not write */
export function parseLogLine(line: string): LogLine {
  const json: unknown = JSON.parse(line);
  if (typeof json !== "object" || json === null) throw new Error("a line of the event log is no object");
  if ("note" in json && typeof json.note === "string") return { kind: "note", note: json.note };
  if ("scores" in json) return { kind: "events", events: eventsOf(json as VoiceRun) };
  if (!("type" in json) || !("atMs" in json)) throw new Error("a line of the event log is no event");
  return { kind: "events", events: [withVoicePlan(withListens(json as CallEngineEvent))] };
}

/** Logs of earlier versions do not say whether a turn detector listens. The only one that did was named `audio`. */
function withListens(event: CallEngineEvent): CallEngineEvent {
  if (event.type !== "turnJudged" || event.listens !== undefined) return event;
  return event.by === "audio" ? { ...event, listens: true } : event;
}

/** Logs of earlier versions have the name of a voice of the deployment, or null, in place of its plan. */
function withVoicePlan(event: CallEngineEvent): CallEngineEvent {
  if (event.type !== "stagePrepared") return event;
  const voice = event.stage.voice as VoicePlan | string | null;
  if (voice !== null && typeof voice === "object") return event;
  return { ...event, stage: { ...event.stage, voice: { kind: "deployment", name: voice } } };
}

function runOf(run: readonly VoiceScored[]): VoiceRun {
  const [first] = run;
  const atMs = run.map((event, i) => event.atMs - (run[i - 1]?.atMs ?? 0));
  const scores = run.map(({ score }) => score);
  const echo = run.some((event) => event.echo !== undefined) ? run.map((event) => event.echo ?? null) : null;
  return { scores, mediaMs: first?.mediaMs ?? 0, atMs, ...(echo === null ? {} : { echo }) };
}

function eventsOf({ scores, mediaMs, atMs, echo }: VoiceRun): VoiceScored[] {
  let nowMs = 0;
  return scores.map((score, i) => {
    nowMs += atMs[i] ?? 0;
    const heard = echo?.[i] ?? null;
    const window = { type: "voiceScored", score, mediaMs: mediaMs + i * WINDOW_MS } as const;
    return { ...window, ...(heard === null ? {} : { echo: heard }), atMs: nowMs };
  });
}

/** Replaces the document of a next stage, in which its tools have their credentials in full. */
const STAGE_DOCUMENT_NOTICE = "[The document of the next stage is not shown.]";
const HIDDEN = "hidden";

/**
 * What an account may read of the events of its call: everything but the secrets of tools. It replays to the same
 * calls: the engine takes a new stage from `stagePrepared` and never reads the document.
 */
export function eventWithoutSecrets(event: CallEngineEvent): CallEngineEvent {
  if (event.type === "adopted") return { ...event, snapshot: snapshotWithoutSecrets(event.snapshot) };
  if (event.type === "stagePrepared") return { ...event, stage: stageWithoutSecrets(event.stage) };
  if (event.type === "toolFinished") {
    const { outcome } = event;
    if (outcome.kind === "failed" || outcome.responseType !== "new-stage") return event;
    return { ...event, outcome: { ...outcome, result: STAGE_DOCUMENT_NOTICE } };
  }
  if (event.type === "dataMessageReceived") {
    const { message } = event;
    if (!("responseType" in message) || message.responseType !== "new-stage") return event;
    return { ...event, message: { ...message, result: STAGE_DOCUMENT_NOTICE } };
  }
  return event;
}

function snapshotWithoutSecrets({ version, state }: CallSnapshot): CallSnapshot {
  const { stage, toolRound, reply } = state;
  return {
    version,
    state: {
      ...state,
      stage: stage === null ? null : stageWithoutSecrets(stage),
      toolRound: toolRound === null ? null : { ...toolRound, calls: toolRound.calls.map(callWithoutSecrets) },
      reply: reply === null ? null : { ...reply, calls: reply.calls.map(callWithoutSecrets) },
    },
  };
}

function callWithoutSecrets(call: ToolCall): ToolCall {
  const { progress } = call;
  if (progress.kind === "staging")
    return { ...call, progress: { ...progress, document: STAGE_DOCUMENT_NOTICE } };
  if (progress.kind !== "answered" || progress.answer.consequence?.kind !== "newStage") return call;
  const { answer } = progress;
  const consequence = {
    ...progress.answer.consequence,
    stage: stageWithoutSecrets(progress.answer.consequence.stage),
  };
  return { ...call, progress: { ...progress, answer: { ...answer, consequence } } };
}

export function planWithoutSecrets(plan: CallPlan): CallPlan {
  const { dataConnection } = plan;
  return {
    ...plan,
    callToken: "",
    // It may hold keys for the tools of an agent; the texts of the plan are filled already.
    templateContext: {},
    dataConnection: dataConnection === null ? null : { ...dataConnection, headers: {}, sharedSecrets: [] },
    stage: stageWithoutSecrets(plan.stage),
  };
}

function stageWithoutSecrets(stage: StagePlan): StagePlan {
  const { document, voice } = stage;
  const { settings } = document;
  return {
    ...stage,
    voice: voice.kind === "deployment" ? voice : { ...voice, settings: withoutHeaders(voice.settings) },
    tools: stage.tools.map(toolWithoutSecrets),
    document: {
      ...document,
      settings: { ...settings, externalVoice: externalWithoutHeaders(settings.externalVoice) },
      tools: document.tools.map(listedWithoutSecrets),
    },
  };
}

type ExternalVoice = StageDocument["settings"]["externalVoice"];

function externalWithoutHeaders(voice: ExternalVoice): ExternalVoice {
  return voice?.generic === undefined ? voice : { generic: withoutHeaders(voice.generic) };
}

/** The headers of a generic voice carry its key. */
function withoutHeaders<Settings extends object>(settings: Settings): Settings {
  if (!("headers" in settings) || settings.headers === undefined) return settings;
  const names = Object.keys(settings.headers as object);
  return { ...settings, headers: Object.fromEntries(names.map((name) => [name, HIDDEN])) };
}

function toolWithoutSecrets(tool: ToolPlan): ToolPlan {
  // A fixed header is where a tool without credentials carries its key.
  const fixed = tool.fixed.map((one) => (one.location === "header" ? { ...one, value: HIDDEN } : one));
  const { implementation } = tool;
  if (implementation.kind === "http") {
    return { ...tool, fixed, implementation: { ...implementation, credentials: [], callToken: null } };
  }
  return implementation.kind === "mcp"
    ? { ...tool, fixed, implementation: { ...implementation, headers: {} } }
    : { ...tool, fixed };
}

function listedWithoutSecrets(tool: ListedTool): ListedTool {
  const { definition } = tool;
  const { staticParameters } = definition;
  if (staticParameters === undefined) return tool;
  const masked = staticParameters.map((one) =>
    one.location === "PARAMETER_LOCATION_HEADER" && one.value !== undefined ? { ...one, value: HIDDEN } : one,
  );
  return { ...tool, definition: { ...definition, staticParameters: masked } };
}
