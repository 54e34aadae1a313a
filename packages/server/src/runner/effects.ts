/**
 * Table of handlers, one for each effect of the engine. It is complete by type: a new effect does not compile until it
 * has an entry here.
 */

import type { TurnLatency } from "@parley/schema";
import { isEngineFailure } from "../call/call-events.ts";
import type { CallEffect, EffectOf } from "../call/effects.ts";
import type { Transport } from "../ports/transport.ts";
import type { CallClock } from "./call-clock.ts";
import type { JoinedRecord } from "./records/call-records.ts";
import type { RecordQueue } from "./records/record-queue.ts";
import type { CallMedia } from "./speech/call-media.ts";
import type { TurnDetectors } from "./speech/turn-detectors.ts";
import type { CallTasks } from "./tasks/call-tasks.ts";

/** The parts of a live call that effects act on. */
export interface EffectTargets {
  /** Null before the join. */
  readonly media: () => CallMedia | null;
  /** Null while no connection is open. */
  readonly transport: () => Transport | null;
  readonly tasks: CallTasks;
  readonly turnDetectors: TurnDetectors;
  readonly clock: CallClock;
  readonly records: RecordQueue;
  readonly joined: () => JoinedRecord;
  /** A failure for the log of the service. */
  readonly engineFailed: (what: string) => void;
  readonly turnLatency: (latency: TurnLatency) => void;
  readonly handOver: () => void;
  readonly end: (end: EffectOf<"endCall">) => void;
}

type EffectType = CallEffect["type"];
type Start<T extends EffectType> = (targets: EffectTargets, effect: EffectOf<T>) => void;

const START: { readonly [T in EffectType]: Start<T> } = {
  // The caller's speech.
  openUtterance: ({ media }, { utteranceId, prerollMs }) =>
    media()?.speechIn.openUtterance(utteranceId, prerollMs),
  requestTranscript: ({ media }, { utteranceId, revision }) =>
    media()?.speechIn.requestTranscript(utteranceId, revision),
  abandonUtterance: ({ media }, { utteranceId }) => media()?.speechIn.abandonUtterance(utteranceId),
  judgeTurn: ({ media, turnDetectors }, effect) =>
    turnDetectors.ask(effect, () => media()?.speechIn.utteranceAudio(effect.utteranceId) ?? null),

  // The agent's reply.
  generateReply: ({ tasks, media }, { replyId, request }) => {
    const voice = (utteranceId: number): Int16Array | null => media()?.speechIn.voiceOf(utteranceId) ?? null;
    tasks.generations.start(replyId, request, voice);
  },
  abortReply: ({ tasks, media }, { replyId }) => {
    tasks.generations.abort(replyId);
    media()?.speechOut.abortReply(replyId);
  },
  generateSide: ({ tasks }, { generationId, request }) => tasks.sideGenerations.start(generationId, request),
  abortSide: ({ tasks }, { generationId }) => tasks.sideGenerations.abort(generationId),
  synthesize: ({ media }, effect) => media()?.speechOut.synthesize(effect),
  speak: ({ media }, { replyId }) => media()?.speechOut.speak(replyId),
  pausePlayout: ({ media }, { replyId }) => media()?.speechOut.pause(replyId),
  resumePlayout: ({ media }, { replyId }) => media()?.speechOut.resume(replyId),
  clearPlayout: ({ media }, { replyId }) => media()?.speechOut.clear(replyId),

  // Tools and stages.
  invokeTool: ({ tasks }, { invocation }) => tasks.toolRuns.start(invocation),
  abortTool: ({ tasks }, { invocationId }) => tasks.toolRuns.abort(invocationId),
  prepareStage: ({ tasks }, effect) => tasks.stageRuns.start(effect),
  beginStage: ({ media, clock, records }, { stage, inheritsMessages }) => {
    media()?.follow(stage);
    records.stage({ stage, inheritsMessages, beganAt: clock.lastEventAt() });
  },

  limitPlayout: ({ media }, { replyId, segmentId }) => media()?.speechOut.limit(replyId, segmentId),

  setTimer: ({ clock }, { timerId, delayMs }) => clock.setTimer(timerId, delayMs),
  cancelTimer: ({ clock }, { timerId }) => clock.cancelTimer(timerId),

  sendDataMessage: ({ transport }, { message }) => transport()?.sendData(message),
  sendDataConnectionMessage: ({ media }, { message }) => media()?.dataChannel?.send(message),

  // Records.
  recordJoined: ({ records, joined }) => records.joined(joined()),
  recordToolError: ({ records }, { stageId }) => records.toolFailed({ stageId }),
  recordTokenCount: ({ records }, { stageId, inputTokens }) => records.tokensCounted(stageId, inputTokens),
  recordSideTokens: ({ records }, { inputTokens, outputTokens }) =>
    records.sideTokensCounted({ inputTokens, outputTokens }),
  recordMessage: ({ records }, { message }) => records.message(message),
  recordCallEvent: ({ records, engineFailed }, { event }) => {
    records.callEvent(event);
    if (isEngineFailure(event.type)) engineFailed(event.text);
  },
  recordTurnLatency: ({ turnLatency }, { latency }) => turnLatency(latency),

  handOver: ({ handOver }) => handOver(),
  endCall: ({ end }, effect) => end(effect),
};

/** Starts the effect without waiting for it; its results come back as events. */
export function startEffect(targets: EffectTargets, effect: CallEffect): void {
  // The table pairs each type with a function of its own effect; the compiler cannot follow that through a union.
  const start = START[effect.type] as Start<EffectType>;
  start(targets, effect);
}
