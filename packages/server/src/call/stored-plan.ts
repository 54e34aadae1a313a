/** Plans as they are stored, so that a later process, perhaps of another version, reads what it can trust or nothing. */

import type { DataConnectionPlan } from "./data-connection-plan.ts";
import type { CallPlan, FirstSpeakerPlan, MediumPlan, StageDocument } from "./plan.ts";
import type { ToolPlan } from "./tool-plan.ts";

/** Raised whenever a plan of before can no longer be read as one of now. */
export const PLAN_VERSION = 1;

/** The plan as JSON with its version. */
export function storedPlan(plan: CallPlan): Readonly<Record<string, unknown>> {
  return { planVersion: PLAN_VERSION, ...plan };
}

/** A stored plan that cannot be read; `message` says where and why. */
export class UnreadablePlan extends Error {
  override readonly name = "UnreadablePlan";
}

/** @throws UnreadablePlan when the version is another one, or any part has another shape. */
export function parsePlan(json: unknown): CallPlan {
  const version = isObject(json) ? json["planVersion"] : undefined;
  if (version !== PLAN_VERSION) {
    throw new UnreadablePlan(`a plan of version ${JSON.stringify(version)}, not ${PLAN_VERSION}`);
  }
  return readPlan(json, "plan");
}

/** Returns the value in its type, or throws an `UnreadablePlan` that names `path`. */
type Read<T> = (value: unknown, path: string) => T;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(path: string, wanted: string): never {
  throw new UnreadablePlan(`${path} is not ${wanted}`);
}

const text: Read<string> = (value, path) => (typeof value === "string" ? value : wrong(path, "a text"));
const flag: Read<boolean> = (value, path) =>
  typeof value === "boolean" ? value : wrong(path, "true or false");
const number: Read<number> = (value, path) =>
  typeof value === "number" && Number.isFinite(value) ? value : wrong(path, "a number");
/** A length of time or a rate. */
const amount: Read<number> = (value, path) =>
  number(value, path) >= 0 ? (value as number) : wrong(path, "0 or more");

function nullable<T>(read: Read<T>): Read<T | null> {
  return (value, path) => (value === null ? null : read(value, path));
}

function word<const T extends string>(...words: readonly T[]): Read<T> {
  return (value, path) => words.find((each) => each === value) ?? wrong(path, `one of ${words.join(", ")}`);
}

function list<T>(read: Read<T>): Read<readonly T[]> {
  return (value, path) =>
    Array.isArray(value) ? value.map((item, index) => read(item, `${path}.${index}`)) : wrong(path, "a list");
}

function map<T>(read: Read<T>): Read<Readonly<Record<string, T>>> {
  return (value, path) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, read(item, `${path}.${key}`)]))
      : wrong(path, "an object");
}

/** The type demands a reader for every member, so a new part of the plan cannot be forgotten here. */
function object<T extends object>(fields: { readonly [K in keyof T]-?: Read<T[K]> }): Read<T> {
  const readers = Object.entries<Read<unknown>>(fields);
  return (value, path) =>
    isObject(value)
      ? (Object.fromEntries(readers.map(([key, read]) => [key, read(value[key], `${path}.${key}`)])) as T)
      : wrong(path, "an object");
}

const readMedium: Read<MediumPlan> = object<MediumPlan>({
  kind: word("serverWebSocket"),
  inputSampleRateHz: amount,
  outputSampleRateHz: amount,
  clientBufferSizeMs: amount,
  mediaIdleTimeoutMs: nullable(amount),
});

type AgentFirst = Extract<FirstSpeakerPlan, { kind: "agent" }>;
type UserFirst = Extract<FirstSpeakerPlan, { kind: "user" }>;

const readAgentFirst: Read<AgentFirst> = object<AgentFirst>({
  kind: word("agent"),
  delayMs: amount,
  text: nullable(text),
  prompt: nullable(text),
  uninterruptible: flag,
});

const readUserFirst: Read<UserFirst> = object<UserFirst>({
  kind: word("user"),
  fallback: nullable(object({ delayMs: amount, text: nullable(text), prompt: nullable(text) })),
});

const readFirstSpeaker: Read<FirstSpeakerPlan> = (value, path) =>
  isObject(value) && value["kind"] === "user" ? readUserFirst(value, path) : readAgentFirst(value, path);

const readPlan: Read<CallPlan> = object<CallPlan>({
  callId: text,
  accountId: text,
  agentId: nullable(text),
  medium: readMedium,
  joinTimeoutMs: amount,
  maxDurationMs: amount,
  dataMessages: object({
    pong: flag,
    state: flag,
    transcript: flag,
    clientToolInvocation: flag,
    dataConnectionToolInvocation: flag,
    playbackClearBuffer: flag,
    callStarted: flag,
    debug: flag,
    callEvent: flag,
    toolUsed: flag,
    invokingTool: flag,
    userStartedSpeaking: flag,
    userStoppedSpeaking: flag,
  }),
  firstSpeaker: readFirstSpeaker,
  greetingPrompt: flag,
  initialOutputMedium: word("voice", "text"),
  initialMessages: list(
    object({
      role: word("user", "agent", "tool_call", "tool_result"),
      text,
      medium: word("voice", "text"),
      invocationId: nullable(text),
      toolName: nullable(text),
    }),
  ),
  initialState: map<unknown>((value) => value),
  metadata: map(text),
  recordingEnabled: flag,
  templateContext: map<unknown>((value) => value),
  dataConnection: (value) => value as DataConnectionPlan | null,
  turnTaking: object({
    speculationDelayMs: amount,
    interruptionConfirmMs: amount,
    resumeAfterSilenceMs: amount,
    transcriptTimeoutMs: amount,
    replyTimeoutMs: amount,
    replyStallMs: amount,
    synthesisTimeoutMs: amount,
    engineRetryDelayMs: amount,
    engineFailureLimitMs: amount,
    reconnectGraceMs: amount,
    partingLimitMs: amount,
    maximumTurnMs: amount,
    maximumReplyChars: amount,
  }),
  stage: object({
    stageId: text,
    systemPrompt: text,
    temperature: number,
    model: text,
    voice: nullable(text),
    languageHint: nullable(text),
    timeExceededMessage: nullable(text),
    inactivityMessages: list(object({ afterMs: amount, text, endBehavior: word("none", "soft", "strict") })),
    tools: list((value) => value as ToolPlan),
    document: (value) => value as StageDocument,
    vad: object({
      frameActivationThreshold: number,
      turnEndpointDelayMs: amount,
      minimumTurnDurationMs: amount,
      minimumInterruptionDurationMs: amount,
    }),
  }),
});
