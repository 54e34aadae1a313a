/** One event of each type, for the tables of what each part of a call does with each. */

import { snapshotOf } from "../adoption/snapshot.ts";
import { step, type CallState } from "../call.ts";
import type { CallEngineEventBody } from "../events.ts";
import { testPlan } from "./plan.ts";
import { joinedCall, type Scenario } from "./scenario.ts";

export type EventType = CallEngineEventBody["type"];

type Events<T extends EventType> = { readonly [K in T]: Extract<CallEngineEventBody, { readonly type: K }> };
const LEAVING = {
  handoverRequested: { type: "handoverRequested", limitMs: 20_000 },
  transportLost: { type: "transportLost" },
} as const;
const PING = { type: "ping", timestamp: 1 } as const;

type SegmentEventType = Extract<CallEngineEventBody, { readonly segmentId: number | null }>["type"];

function segmentEvents(replyId: number, segmentId: number): Events<SegmentEventType> {
  return {
    segmentAudioReceived: { type: "segmentAudioReceived", replyId, segmentId },
    segmentSynthesized: { type: "segmentSynthesized", replyId, segmentId, durationMs: 500 },
    segmentFailed: { type: "segmentFailed", replyId, segmentId, error: "no voice", receivedMs: 0 },
    segmentPlayoutStarted: { type: "segmentPlayoutStarted", replyId, segmentId },
    segmentPlayoutAdvanced: {
      type: "segmentPlayoutAdvanced",
      replyId,
      segmentId,
      heardChars: 5,
      playedMs: 99,
    },
    segmentPlayoutFinished: { type: "segmentPlayoutFinished", replyId, segmentId, playedMs: 500 },
    playoutPaused: { type: "playoutPaused", replyId, segmentId, heardChars: 5 },
    playoutCleared: { type: "playoutCleared", replyId, segmentId, heardChars: 5 },
  };
}

type GenerationEventType =
  Extract<CallEngineEventBody, { readonly generationId: number }>["type"] | "replyToolCalled";

function generationEvents(replyId: number, generationId: number): Events<GenerationEventType> {
  const called = { call: { id: "c1", name: "lookUp", arguments: {} }, problem: null };
  return {
    replyToolCalled: { type: "replyToolCalled", replyId, ...called },
    sideTextReceived: { type: "sideTextReceived", generationId, text: "And so " },
    sideToolCalled: { type: "sideToolCalled", generationId, ...called },
    sideTextFinished: { type: "sideTextFinished", generationId, inputTokens: 1, outputTokens: 1 },
    sideGenerationFailed: { type: "sideGenerationFailed", generationId, error: "stream broke" },
  };
}

const HUMAN = { answeredBy: "human", isMachine: false, greetingEnded: false };

const COMPLETED: Events<"toolFinished">["toolFinished"]["outcome"] = {
  kind: "completed",
  result: "OK",
  responseType: "tool-response",
  reaction: null,
  updateCallState: null,
};

/** The event as it reaches a call: about its own utterance, reply, segment, thread and tool call where it has them. */
function eventFor(type: EventType, state: CallState): CallEngineEventBody {
  const { turn, reply, toolRound, sideThreads, clock } = state;
  const invocationId = toolRound?.calls[0]?.invocationId ?? reply?.calls[0]?.invocationId ?? "none";
  const utteranceId = turn.kind === "quiet" ? 0 : turn.utteranceId;
  const revision = turn.kind === "quiet" ? 0 : turn.revision;
  const replyId = reply?.replyId ?? 0;
  const segmentId = reply?.segments.find(({ status }) => status !== "played")?.segmentId ?? 0;
  const events: Events<EventType> = {
    started: { type: "started" },
    joined: { type: "joined" },
    adopted: { type: "adopted", snapshot: snapshotOf(state), recorded: [], mediaMs: clock.mediaMs },
    ...LEAVING,
    transportRestored: { type: "transportRestored" },
    transportHungUp: { type: "transportHungUp" },
    mediaIdled: { type: "mediaIdled" },
    mediaUnderflowed: { type: "mediaUnderflowed", missingMs: 200 },
    mediaOverflowed: { type: "mediaOverflowed", droppedMs: 100 },
    transportProblemNoticed: { type: "transportProblemNoticed", problem: "odd_bytes" },
    voiceScored: { type: "voiceScored", score: 0, mediaMs: 1_000_000 },
    echoLearned: { type: "echoLearned", own: [] },
    transcriptUpdated: { type: "transcriptUpdated", utteranceId, text: "wait" },
    transcriptFinished: { type: "transcriptFinished", utteranceId, revision, text: "wait", understood: true },
    transcriptFailed: { type: "transcriptFailed", utteranceId, revision, error: "refused" },
    replyTextReceived: { type: "replyTextReceived", replyId, text: "And so " },
    replyTextFinished: { type: "replyTextFinished", replyId, inputTokens: 1, outputTokens: 1 },
    replyFailed: { type: "replyFailed", replyId, error: "stream broke" },
    ...generationEvents(replyId, sideThreads.list[0]?.generation?.generationId ?? 0),
    ...segmentEvents(replyId, segmentId),
    timerFired: { type: "timerFired", timerId: 0 },
    dataMessageReceived: { type: "dataMessageReceived", message: PING, source: "client" },
    dataMessageRejected: { type: "dataMessageRejected", cause: "invalid", detail: "not JSON" },
    turnJudged: { type: "turnJudged", utteranceId, revision, finished: 1, by: "text" },
    toolFinished: { type: "toolFinished", invocationId, outcome: COMPLETED },
    stagePrepared: {
      type: "stagePrepared",
      invocationId,
      stage: testPlan().stage,
      initialMessages: null,
      initialState: null,
      toolResultText: "OK",
    },
    stageRefused: { type: "stageRefused", invocationId, error: "no such tool" },
    dataConnectionOpened: { type: "dataConnectionOpened" },
    dataConnectionLost: { type: "dataConnectionLost", detail: "closed", willRetry: true },
    dataConnectionFailed: { type: "dataConnectionFailed", detail: "refused" },
    engineWarned: { type: "engineWarned", engine: "stt", detail: "no Frisian" },
    engineReplaced: { type: "engineReplaced", engine: "llm", from: "one", to: "two", error: "HTTP 500" },
    spareSpeechPrepared: { type: "spareSpeechPrepared", language: null },
    digitReceived: { type: "digitReceived", key: "5" },
    answererDetected: { type: "answererDetected", ...HUMAN },
    userReplaced: { type: "userReplaced" },
    voiceDetectionFailed: { type: "voiceDetectionFailed", error: "worker died" },
    endRequested: { type: "endRequested", cause: "hangup" },
    faulted: { type: "faulted", error: "boom" },
  };
  return events[type];
}

export function after(state: CallState, type: EventType): CallState {
  return step(state, { ...eventFor(type, state), atMs: state.clock.atMs }).state;
}

/** A call in which the agent is being heard while its text is still coming. */
export function heard(): Scenario {
  const call = joinedCall();
  call.llm.script = [
    { text: "It is a lovely hotel by the sea. All of its rooms have balconies.", pieceMs: 150 },
  ];
  return call
    .run(320)
    .says("Good morning", 640)
    .runUntil(({ reply }) => reply?.begun === true)
    .run(200);
}
