/**
 * The frozen description of one call: every default applied, every template rendered, every duration in ms. The engine
 * reads this and never a wire document. It is plain JSON, so it can be stored and read back.
 */

import type { CallTool } from "@parley/schema";
import type { StageSettings } from "./call-settings.ts";
import type { DataConnectionPlan } from "./data-connection-plan.ts";
import type { ToolPlan } from "./tool-plan.ts";

export interface CallPlan {
  readonly callId: string;
  readonly accountId: string;
  readonly agentId: string | null;
  readonly medium: MediumPlan;
  /** Wait for the join, counted from creation. */
  readonly joinTimeoutMs: number;
  /** Counted from the join. */
  readonly maxDurationMs: number;
  readonly dataMessages: DataMessageFlags;
  readonly firstSpeaker: FirstSpeakerPlan;
  /** Adds an instruction to greet to a generated opening when the history does not ask for an answer (D44). */
  readonly greetingPrompt: boolean;
  readonly initialOutputMedium: "voice" | "text";
  readonly initialMessages: readonly InitialMessage[];
  readonly initialState: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly recordingEnabled: boolean;
  /** What texts of later stages are filled with. */
  readonly templateContext: Readonly<Record<string, unknown>>;
  /** By which tools can tell the call's requests from others; checked only by the service. Secret. */
  readonly callToken: string;
  /** What the operator should know of the call from its start on (D49). */
  readonly warnings: readonly string[];
  /** Null: none. */
  readonly dataConnection: DataConnectionPlan | null;
  readonly turnTaking: TurnTakingSettings;
  /** The settings of the first stage. */
  readonly stage: StagePlan;
}

export type MediumPlan = {
  readonly kind: "serverWebSocket" | "webRtc";
  readonly inputSampleRateHz: number;
  readonly outputSampleRateHz: number;
  readonly clientBufferSizeMs: number;
  /** Null: off. */
  readonly mediaIdleTimeoutMs: number | null;
};

/** Which messages go to the client, defaults applied (D105). */
export interface DataMessageFlags {
  readonly pong: boolean;
  readonly state: boolean;
  readonly transcript: boolean;
  readonly clientToolInvocation: boolean;
  readonly dataConnectionToolInvocation: boolean;
  readonly playbackClearBuffer: boolean;
  readonly callStarted: boolean;
  readonly debug: boolean;
  readonly callEvent: boolean;
  readonly toolUsed: boolean;
  readonly invokingTool: boolean;
  readonly userStartedSpeaking: boolean;
  readonly userStoppedSpeaking: boolean;
}

export type FirstSpeakerPlan =
  | {
      readonly kind: "agent";
      readonly delayMs: number;
      readonly text: string | null;
      readonly prompt: string | null;
      readonly uninterruptible: boolean;
    }
  | {
      readonly kind: "user";
      readonly fallback: {
        readonly delayMs: number;
        readonly text: string | null;
        readonly prompt: string | null;
      } | null;
    };

export interface StagePlan {
  readonly stageId: string;
  readonly systemPrompt: string;
  readonly temperature: number;
  /** Resolved name for the model port. */
  readonly model: string;
  /** Resolved voice name for the voice port, or null for its default. */
  readonly voice: string | null;
  readonly languageHint: string | null;
  readonly timeExceededMessage: string | null;
  readonly inactivityMessages: readonly InactivityMessagePlan[];
  readonly vad: VadPlan;
  /** Model-facing names are unique. */
  readonly tools: readonly ToolPlan[];
  /** What records and the next stage need to know; the engine passes it on unread. */
  readonly document: StageDocument;
}

/** The stage as the wire knows it, without secrets. */
export interface StageDocument {
  readonly settings: StageSettings;
  readonly tools: readonly CallTool[];
}

export interface InactivityMessagePlan {
  readonly afterMs: number;
  readonly text: string;
  readonly endBehavior: "none" | "soft" | "strict";
}

export interface VadPlan {
  readonly frameActivationThreshold: number;
  /** A multiple of 32. */
  readonly turnEndpointDelayMs: number;
  readonly minimumTurnDurationMs: number;
  /** Already the larger of itself and `minimumTurnDurationMs` (D129). */
  readonly minimumInterruptionDurationMs: number;
}

export interface InitialMessage {
  readonly role: "user" | "agent" | "tool_call" | "tool_result";
  readonly text: string;
  readonly medium: "voice" | "text";
  readonly invocationId: string | null;
  readonly toolName: string | null;
}

/** Settings of the service, not of the wire; defaults and reasons are in the table of `config.ts`. */
export interface TurnTakingSettings {
  /** Silence after which the transcript is asked for in any case, and a reply begun speculatively once it is there. */
  readonly speculationDelayMs: number;
  /** Silence after which the transcript is asked for early, so often as a turn allows; as `speculationDelayMs`: never. */
  readonly transcriptDelayMs: number;
  /** Speech that confirms an interruption without words, unless the recogniser finds that it was a sign of listening. */
  readonly interruptionConfirmMs: number;
  /** Silence after a pause with neither words nor more speech, after which the agent resumes. */
  readonly resumeAfterSilenceMs: number;
  /** Wait for a transcript after the end of turn before it counts as failed. */
  readonly transcriptTimeoutMs: number;
  /** Wait for the first text of a reply. */
  readonly replyTimeoutMs: number;
  /** Longest pause between two pieces of text of one reply. */
  readonly replyStallMs: number;
  /** Wait for the first audio of a segment. */
  readonly synthesisTimeoutMs: number;
  /** Wait before a failed engine is tried again. */
  readonly engineRetryDelayMs: number;
  /** How long an engine may fail without one success before the call ends (D135). */
  readonly engineFailureLimitMs: number;
  /** Wait for a lost transport to come back (D114). */
  readonly reconnectGraceMs: number;
  /** Longest time that `timeExceededMessage` may take before the call ends anyway (D133). */
  readonly partingLimitMs: number;
  /** The same for the last message of an agent that hangs up, which is said to its end (D101). */
  readonly farewellLimitMs: number;
  /** Speech of one turn beyond this ends the turn by force. */
  readonly maximumTurnMs: number;
  /** Characters of one reply beyond which the rest is dropped. */
  readonly maximumReplyChars: number;
  /** Tokens of system prompt, tools and messages of one request; what is beyond is left out of it. */
  readonly contextWindowTokens: number;
  /** Wait for the judges' opinions after the transcript; 0: nobody is asked. */
  readonly judgementWaitMs: number;
  /** Silence beyond the least that words which sound rather unfinished are given. */
  readonly unfinishedExtraMs: number;
  /** The same for words that cannot be the end. */
  readonly clearlyUnfinishedExtraMs: number;
  /** The same for speech that no recogniser understood. */
  readonly notUnderstoodExtraMs: number;
  /** Longest least wait that the caller's own pauses may lead to; 0: not learned. */
  readonly adaptiveEndpointMaxMs: number;
  /** From the agent's first sound on, only words or long speech interrupt. */
  readonly interruptionGraceMs: number;
  /** Speech of listening words that does not interrupt; 0: they interrupt like any others. */
  readonly backchannelMaxMs: number;
  /** How long after the agent's sound its echo may come; 0: echo is not looked for. */
  readonly echoTailMs: number;
}
