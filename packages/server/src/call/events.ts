/**
 * Everything that can happen to a call. Past tense. `atMs` is a monotonic clock in ms whose origin is the creation of
 * the call's runner; it never decreases. Ids come from the engine's own effects, so an event about an id that the
 * engine has dropped is harmless.
 */

import type { ClientDataMessage, LlmToolCall, ToolOutcome } from "@parley/schema";
import type { InitialMessage, StagePlan } from "../plan/plan.ts";
import type { CallSnapshot } from "./adoption/snapshot.ts";
import type { MessageRecord } from "./effects.ts";
import type { Answerer } from "./life/answerer-state.ts";

export type CallEngineEvent = { readonly atMs: number } & CallEngineEventBody;

export type CallEngineEventBody =
  | { readonly type: "started" }
  /**
   * `debug`, `partials`: the join itself requested debug messages, and early words of the user
   * (`experimentalMessages=debug,partials`). `keepsAudio`: the client buffers audio that it has not played, whatever
   * the medium, and is notified when to drop it.
   */
  | {
      readonly type: "joined";
      readonly debug?: boolean;
      readonly partials?: boolean;
      readonly keepsAudio?: boolean;
    }
  /**
   * Another process continues the call from its last snapshot; the client is connected again. `recorded`: messages that
   * are newer than the snapshot. `mediaMs`: the media clock now, as if media had come all the time.
   */
  | {
      readonly type: "adopted";
      readonly snapshot: CallSnapshot;
      readonly recorded: readonly MessageRecord[];
      readonly mediaMs: number;
      readonly keepsAudio?: boolean;
    }
  /** `graceMs`: the wait for its return, where it is not the plan's. */
  | { readonly type: "transportLost"; readonly graceMs?: number }
  | { readonly type: "transportRestored"; readonly keepsAudio?: boolean }
  /** The other side hung up. */
  | { readonly type: "transportHungUp" }
  /** No audio for `mediaIdleTimeoutMs`. */
  | { readonly type: "mediaIdled" }
  | { readonly type: "mediaUnderflowed"; readonly missingMs: number }
  | { readonly type: "mediaOverflowed"; readonly droppedMs: number }
  | { readonly type: "transportProblemNoticed"; readonly problem: string }
  /** The user pressed a key: one of 0-9 * # A-D. */
  | { readonly type: "digitReceived"; readonly key: string }
  /** The carrier has found out who has answered. It may find out more later: that the greeting of a machine has ended. */
  | ({ readonly type: "answererDetected" } & Answerer)
  /** One VAD window. `mediaMs`: end of the window in received media (inserted silence included) since the join. */
  | {
      readonly type: "voiceScored";
      readonly score: number;
      readonly mediaMs: number;
      /** Likelihood, 0 to 1, that the window holds only the agent's own voice coming back; 0.3: unknown. Unset: 0. */
      readonly echo?: number;
    }
  /**
   * It has become known how the agent's voice comes back. `own`: of the windows that were unknown until now, those that
   * were not its echo, at most 3 s of them.
   */
  | {
      readonly type: "echoLearned";
      readonly own: readonly { readonly mediaMs: number; readonly score: number }[];
    }
  /** An opinion on the words or the sound of an utterance: the likelihood, 0 to 1, that the user has finished. */
  | {
      readonly type: "turnJudged";
      readonly utteranceId: number;
      readonly revision: number;
      /** Null: no opinion. */
      readonly finished: number | null;
      /** Name of the turn detector, for the record. */
      readonly by: string;
      /** The turn detector heard the utterance; false or unset: it only read the words. */
      readonly listens?: boolean;
      /** Turn detectors that have not answered yet. Unset: none. */
      readonly pending?: number;
    }
  | { readonly type: "transcriptUpdated"; readonly utteranceId: number; readonly text: string }
  | {
      readonly type: "transcriptFinished";
      readonly utteranceId: number;
      readonly revision: number;
      readonly text: string;
      readonly understood: boolean;
    }
  | {
      readonly type: "transcriptFailed";
      readonly utteranceId: number;
      readonly revision: number;
      readonly error: string;
      /** A retry cannot help: the engine refuses its key, its address or its model. */
      readonly permanent?: true;
      /** Kind of the failure, such as `429`, for traces; the engine does not read it. Unset: unknown. */
      readonly errorType?: string;
      /** Every engine of a list has failed. */
      readonly exhausted?: true;
    }
  | { readonly type: "replyTextReceived"; readonly replyId: number; readonly text: string }
  /** `problem`: why the call cannot be carried out (no such tool, arguments that break its schema), or null. */
  | {
      readonly type: "replyToolCalled";
      readonly replyId: number;
      readonly call: LlmToolCall;
      readonly problem: string | null;
    }
  | {
      readonly type: "replyTextFinished";
      readonly replyId: number;
      readonly inputTokens: number | null;
      readonly outputTokens: number | null;
      /** Of the input tokens, those from the server's cache. Unset: none, or not reported. */
      readonly cachedInputTokens?: number;
    }
  | {
      readonly type: "replyFailed";
      readonly replyId: number;
      readonly error: string;
      readonly permanent?: true;
      readonly errorType?: string;
      readonly exhausted?: true;
    }
  /** The same of a generation of a side thread. */
  | { readonly type: "sideTextReceived"; readonly generationId: number; readonly text: string }
  | {
      readonly type: "sideToolCalled";
      readonly generationId: number;
      readonly call: LlmToolCall;
      readonly problem: string | null;
    }
  | {
      readonly type: "sideTextFinished";
      readonly generationId: number;
      readonly inputTokens: number | null;
      readonly outputTokens: number | null;
      readonly cachedInputTokens?: number;
    }
  | {
      readonly type: "sideGenerationFailed";
      readonly generationId: number;
      readonly error: string;
      readonly permanent?: true;
      readonly errorType?: string;
    }
  /** First audio of the segment is in the playout buffer (whether or not it may be played yet). */
  | {
      readonly type: "segmentAudioReceived";
      readonly replyId: number;
      readonly segmentId: number;
      /** It was rendered before, for the case that the voice fails, so it says nothing about the voice. */
      readonly prepared?: true;
    }
  /** All audio of the segment is in the playout buffer. */
  | {
      readonly type: "segmentSynthesized";
      readonly replyId: number;
      readonly segmentId: number;
      readonly durationMs: number;
      readonly prepared?: true;
    }
  | {
      readonly type: "segmentFailed";
      readonly replyId: number;
      readonly segmentId: number;
      readonly error: string;
      /** Audio that had already arrived and stays playable; 0 when none. */
      readonly receivedMs: number;
      readonly permanent?: true;
      readonly errorType?: string;
      readonly exhausted?: true;
    }
  /** The first frame of the segment was sent. */
  | { readonly type: "segmentPlayoutStarted"; readonly replyId: number; readonly segmentId: number }
  /** Posted at each word's start. `heardChars`: UTF-16 units of the segment's text that were begun or heard. */
  | {
      readonly type: "segmentPlayoutAdvanced";
      readonly replyId: number;
      readonly segmentId: number;
      readonly heardChars: number;
      readonly playedMs: number;
    }
  /** The whole segment was heard (or its place was skipped because it failed before any audio). */
  | {
      readonly type: "segmentPlayoutFinished";
      readonly replyId: number;
      readonly segmentId: number;
      readonly playedMs: number;
    }
  /** Answer to `pausePlayout`: the heard position. `segmentId` null: nothing of the reply was heard. */
  | {
      readonly type: "playoutPaused";
      readonly replyId: number;
      readonly segmentId: number | null;
      readonly heardChars: number;
    }
  /** Answer to `clearPlayout`: the final heard position. Nothing of the reply is sent after it. */
  | {
      readonly type: "playoutCleared";
      readonly replyId: number;
      readonly segmentId: number | null;
      readonly heardChars: number;
    }
  | { readonly type: "timerFired"; readonly timerId: number }
  /** A valid data message, from the client or by REST (`source` "api"). */
  | {
      readonly type: "dataMessageReceived";
      readonly message: ClientDataMessage;
      readonly source: "client" | "api" | "dataConnection";
      /**
       * For each tool call that the message asks for why it cannot be carried out, such as arguments that break the
       * tool's schema, or null. Unset in logs of earlier versions: nothing was checked.
       */
      readonly problems?: readonly (string | null)[];
    }
  /** `limited`: more came than a call takes. */
  | {
      readonly type: "dataMessageRejected";
      readonly cause: "invalid" | "unknown" | "limited";
      readonly detail: string;
    }
  | {
      readonly type: "toolFinished";
      readonly invocationId: string;
      readonly outcome: ToolOutcome;
      /** The same for the data message of a result that sends to a thread. Unset: it asks for no calls. */
      readonly problems?: readonly (string | null)[];
    }
  | {
      readonly type: "stagePrepared";
      readonly invocationId: string;
      readonly stage: StagePlan;
      /** Null: the messages so far are inherited. */
      readonly initialMessages: readonly InitialMessage[] | null;
      /** Null: the state of the call is inherited. */
      readonly initialState: Readonly<Record<string, unknown>> | null;
      /** The result of the tool that the model sees. */
      readonly toolResultText: string;
    }
  | { readonly type: "stageRefused"; readonly invocationId: string; readonly error: string }
  | { readonly type: "dataConnectionOpened" }
  /** `willRetry`: another attempt follows. */
  | { readonly type: "dataConnectionLost"; readonly detail: string; readonly willRetry: boolean }
  /** This call will have no data connection any more. */
  | { readonly type: "dataConnectionFailed"; readonly detail: string }
  /** A warning of an engine for the operator, for example a language it lacks. */
  | {
      readonly type: "engineWarned";
      readonly engine: "stt" | "tts" | "llm" | "vad" | "turn";
      readonly detail: string;
    }
  /** Another engine of a list serves the call from here on. */
  | {
      readonly type: "engineReplaced";
      readonly engine: "stt" | "llm" | "tts";
      readonly from: string;
      readonly to: string;
      /** Why; null: the earlier one of the list works again. */
      readonly error: string | null;
    }
  /** The sentences for a broken voice are rendered in this language. */
  | { readonly type: "spareSpeechPrepared"; readonly language: string | null }
  /** Voice activity detection is lost: the call cannot go on. */
  | { readonly type: "voiceDetectionFailed"; readonly error: string }
  /** DELETE-like end from outside; no join is due any more; or the service is stopping, past its drain limit. */
  | { readonly type: "endRequested"; readonly cause: "hangup" | "unjoined" | "shutdown" }
  /** The runner caught a throw or a queue passed its limit. */
  | { readonly type: "faulted"; readonly error: string };

export type EventOf<T extends CallEngineEvent["type"]> = Extract<CallEngineEvent, { readonly type: T }>;
