/** Dispatcher: which file handles which event and timer, and in which phases an event counts. Complete by type. */

import { onAdopted } from "./adoption/adopted.ts";
import { MEDIA_NOTICE_EVERY_MS, recordEvent, recordEventAtMost } from "./call-events.ts";
import { onDataMessage, onDataMessageRejected } from "./life/client-messages.ts";
import { onAnswererDetected } from "./life/answerer.ts";
import {
  join,
  noteMedia,
  onReconnectTimer,
  onTransportHungUp,
  onTransportLost,
  onTransportRestored,
} from "./life/connection.ts";
import { onDigit, sendDigits } from "./life/digits.ts";
import { update, type Draft } from "./draft.ts";
import {
  CLOSE_FAILURE,
  CLOSE_MEDIA_IDLE,
  CLOSE_REGULAR,
  endCall,
  endParting,
  giveUp,
  onMaxDurationTimer,
} from "./life/ending.ts";
import { markLost, noteReplacement, setRetrying } from "./life/engines.ts";
import {
  isDataConnectionOpen,
  onDataConnectionFailed,
  onDataConnectionLost,
  onDataConnectionOpened,
} from "./life/data-connection.ts";
import { onEchoLearned } from "./turn/doubted-speech.ts";
import { onTurnJudged } from "./turn/endpointing.ts";
import type { CallEngineEvent, EventOf } from "./events.ts";
import { onOpeningTimer } from "./reply/first-speaker.ts";
import { recordInitialMessages } from "./history/history.ts";
import { onInactivityTimer } from "./life/inactivity.ts";
import {
  closeReply,
  onPlayout,
  onPlayoutStopped,
  onPlayoutTimer,
  onSegmentAudio,
  onSegmentFailed,
  onSegmentSynthesized,
  onSynthesisTimer,
} from "./reply/playout.ts";
import { onReplyFailed, onReplyText, onReplyTextFinished, onReplyTimer } from "./reply/reply.ts";
import type { Phase, TimerKind } from "./state.ts";
import {
  onSideFailed,
  onSideFinished,
  onSideText,
  onSideToolCalled,
  onThreadTimer,
} from "./threads/side-generation.ts";
import { onFillerTimer } from "./tools/filler.ts";
import { onStagePrepared, onStageRefused } from "./tools/stage.ts";
import { failDataConnectionCalls, onToolCalled, onToolFinished, onToolTimer } from "./tools/use.ts";
import { takeTimer } from "./timers.ts";
import {
  onTranscriptFailed,
  onTranscriptFinished,
  onTranscriptRetryTimer,
  onTranscriptTimer,
  onTranscriptUpdated,
  onTurnLimitTimer,
  onVoiceScored,
} from "./turn/turn.ts";

type EventType = CallEngineEvent["type"];

interface Answer<T extends EventType> {
  readonly during: readonly Phase["kind"][];
  readonly by: (draft: Draft, event: EventOf<T>) => void;
}

const ALWAYS = ["created", "waiting", "live", "parting"] as const;
const JOINED = ["live", "parting"] as const;
/** During the last words, speech, typed text and further requests to end no longer change anything. */
const LIVE = ["live"] as const;

const ON_EVENT: { readonly [T in EventType]: Answer<T> } = {
  started: {
    during: ["created"],
    by: (draft) => {
      update(draft, { phase: { kind: "waiting" } });
      recordInitialMessages(draft, draft.state.plan.initialMessages);
    },
  },
  joined: { during: ["waiting"], by: join },
  // In any phase: a log may hold the events of both processes.
  adopted: { during: ALWAYS, by: onAdopted },
  transportLost: { during: JOINED, by: onTransportLost },
  transportRestored: { during: JOINED, by: onTransportRestored },
  transportHungUp: { during: ALWAYS, by: onTransportHungUp },
  mediaIdled: {
    during: JOINED,
    by: (draft) => {
      recordEvent(draft, { severity: "warning", type: "media.idle", text: "no audio came for too long" });
      endCall(draft, "connection_error", CLOSE_MEDIA_IDLE, "no audio came for too long");
    },
  },
  mediaUnderflowed: {
    during: JOINED,
    by: (draft, { missingMs }) =>
      noteMedia(draft, "media.underflow", `${missingMs} ms of audio were missing`),
  },
  mediaOverflowed: {
    during: JOINED,
    by: (draft, { droppedMs }) => noteMedia(draft, "media.overflow", `${droppedMs} ms of audio were dropped`),
  },
  transportProblemNoticed: {
    during: JOINED,
    by: (draft, { problem }) =>
      noteMedia(draft, "media.problem", `problem of the transport: ${problem}`, problem),
  },
  answererDetected: { during: ALWAYS, by: onAnswererDetected },
  digitReceived: { during: JOINED, by: onDigit },
  voiceScored: { during: JOINED, by: onVoiceScored },
  echoLearned: { during: LIVE, by: onEchoLearned },
  turnJudged: { during: LIVE, by: onTurnJudged },
  transcriptUpdated: { during: LIVE, by: onTranscriptUpdated },
  transcriptFinished: { during: LIVE, by: onTranscriptFinished },
  transcriptFailed: { during: LIVE, by: onTranscriptFailed },
  replyTextReceived: { during: LIVE, by: onReplyText },
  replyToolCalled: { during: LIVE, by: onToolCalled },
  replyTextFinished: { during: LIVE, by: onReplyTextFinished },
  replyFailed: { during: LIVE, by: onReplyFailed },
  sideTextReceived: { during: JOINED, by: onSideText },
  sideToolCalled: { during: JOINED, by: onSideToolCalled },
  sideTextFinished: { during: JOINED, by: onSideFinished },
  sideGenerationFailed: { during: JOINED, by: onSideFailed },
  segmentAudioReceived: { during: JOINED, by: onSegmentAudio },
  segmentSynthesized: { during: JOINED, by: onSegmentSynthesized },
  segmentFailed: { during: JOINED, by: onSegmentFailed },
  segmentPlayoutStarted: { during: JOINED, by: onPlayout },
  segmentPlayoutAdvanced: { during: JOINED, by: onPlayout },
  segmentPlayoutFinished: { during: JOINED, by: onPlayout },
  playoutPaused: { during: JOINED, by: onPlayoutStopped },
  playoutCleared: { during: JOINED, by: onPlayoutStopped },
  timerFired: {
    during: ALWAYS,
    by: (draft, { timerId }) => {
      const kind = takeTimer(draft, timerId);
      if (kind !== null) ON_TIMER[kind](draft);
    },
  },
  dataMessageReceived: { during: JOINED, by: onDataMessage },
  toolFinished: { during: JOINED, by: onToolFinished },
  stagePrepared: { during: JOINED, by: onStagePrepared },
  stageRefused: { during: JOINED, by: onStageRefused },
  dataConnectionOpened: { during: JOINED, by: onDataConnectionOpened },
  dataConnectionLost: {
    during: JOINED,
    by: (draft, event) => {
      onDataConnectionLost(draft, event);
      if (!isDataConnectionOpen(draft.state)) failDataConnectionCalls(draft);
    },
  },
  dataConnectionFailed: {
    during: JOINED,
    by: (draft, event) => {
      onDataConnectionFailed(draft, event);
      if (!isDataConnectionOpen(draft.state)) failDataConnectionCalls(draft);
    },
  },
  dataMessageRejected: { during: JOINED, by: onDataMessageRejected },
  engineWarned: {
    during: ALWAYS,
    by: (draft, { engine, detail }) => {
      const type = `${engine}.warned`;
      recordEventAtMost(draft, MEDIA_NOTICE_EVERY_MS, type, { severity: "warning", type, text: detail });
    },
  },
  engineReplaced: { during: JOINED, by: noteReplacement },
  spareSpeechPrepared: {
    during: JOINED,
    by: (draft, { language }) => update(draft, { spareSpeech: { language } }),
  },
  voiceDetectionFailed: {
    during: ["created", "waiting", "live"],
    by: (draft, { error }) => {
      recordEvent(draft, { severity: "error", type: "vad.failed", text: error });
      giveUp(draft, `voice activity detection failed: ${error}`);
    },
  },
  endRequested: {
    during: ALWAYS,
    by: (draft, { cause }) => {
      const isJoined = JOINED.some((kind) => kind === draft.state.phase.kind);
      if (cause === "hangup") endCall(draft, "hangup", CLOSE_REGULAR, null);
      else if (cause === "shutdown") endCall(draft, "system_error", CLOSE_FAILURE, "the service is stopping");
      // The receiver was not notified of the call; a user who has joined anyway continues.
      else if (!isJoined) endCall(draft, "unjoined", CLOSE_REGULAR, null);
    },
  },
  faulted: { during: ALWAYS, by: (draft, { error }) => endCall(draft, "system_error", CLOSE_FAILURE, error) },
};

const ON_TIMER: Readonly<Record<TimerKind, (draft: Draft) => void>> = {
  join: (draft) => endCall(draft, "unjoined", CLOSE_REGULAR, null),
  maxDuration: onMaxDurationTimer,
  opening: onOpeningTimer,
  inactivity: onInactivityTimer,
  reconnect: onReconnectTimer,
  turnLimit: onTurnLimitTimer,
  transcript: onTranscriptTimer,
  transcriptRetry: onTranscriptRetryTimer,
  reply: onReplyTimer,
  replyRetry: (draft) => setRetrying(draft, "llm", false),
  // It only has to wake the engine: the answer that is due begins by itself.
  tick: () => {},
  filler: onFillerTimer,
  synthesis: onSynthesisTimer,
  playout: onPlayoutTimer,
  cut: closeReply,
  parting: endParting,
  tool: onToolTimer,
  thread: onThreadTimer,
  sttLimit: (draft) => markLost(draft, "stt"),
  llmLimit: (draft) => markLost(draft, "llm"),
  digits: sendDigits,
};

/** Whether an event counts in a phase at all; an event that does not is dropped without a trace. */
export function counts(phase: Phase["kind"], type: EventType): boolean {
  return ON_EVENT[type].during.includes(phase);
}

export function dispatch(draft: Draft, event: CallEngineEvent): void {
  if (!counts(draft.state.phase.kind, event.type)) return;
  // The table pairs each type with a handler of its own event; the compiler cannot follow that through a union.
  const answer = ON_EVENT[event.type] as Answer<EventType>;
  answer.by(draft, event);
}
