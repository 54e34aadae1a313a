/**
 * The frozen description of one call: all defaults applied, all templates rendered, all durations in ms. The engine
 * reads only this, never a request document. It is plain JSON, so it can be stored and loaded.
 */

import type { CallTool, ClientMessageLevel, DataMessageFlag, MediumKind } from "@parley/schema";
import type { StageSettings } from "./call-settings.ts";
import type { DataConnectionPlan } from "./data-connection-plan.ts";
import type { ToolPlan } from "./tool-plan.ts";
import type { TurnTakingSettings } from "./turn-taking.ts";
import type { VoicePlan } from "./voice-plan.ts";

export interface CallPlan {
  readonly callId: string;
  readonly accountId: string;
  readonly agentId: string | null;
  readonly medium: MediumPlan;
  /** Limit of the time from creation to the join. */
  readonly joinTimeoutMs: number;
  /** Limit of the time from the join. */
  readonly maxDurationMs: number;
  readonly dataMessages: DataMessageFlags;
  readonly firstSpeaker: FirstSpeakerPlan;
  /** True: a generated opening gets an instruction to greet, unless the history already asks for an answer. */
  readonly greetingPrompt: boolean;
  readonly initialOutputMedium: "voice" | "text";
  readonly initialMessages: readonly InitialMessage[];
  readonly initialState: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly recordingEnabled: boolean;
  /** What the holder of the join URL may send. Absent: `trusted`, as in the plans of earlier versions. */
  readonly clientMessages?: ClientMessageLevel;
  /** Values for the template strings of later stages. */
  readonly templateContext: Readonly<Record<string, unknown>>;
  /** Token that identifies the call's requests to tools; only the service checks it. Secret. */
  readonly callToken: string;
  /** Name of the recogniser that the call asks for. Absent: the deployment's default. */
  readonly recogniser?: string;
  /** Words and names that the recogniser should expect. Absent: none. */
  readonly transcriptHints?: readonly string[];
  /** Warnings for the operator, valid from the start of the call. */
  readonly warnings: readonly string[];
  /** Null: the call has no data connection. */
  readonly dataConnection: DataConnectionPlan | null;
  readonly turnTaking: TurnTakingSettings;
  /** The header `traceparent` of the request that created the call, for traces. Absent: there was none. */
  readonly traceParent?: string;
  /** The settings of the first stage. */
  readonly stage: StagePlan;
}

export type MediumPlan = {
  readonly kind: MediumKind;
  /** Of a carrier and of SIP: the usual rates. Those of the stream or of the codec replace them. */
  readonly inputSampleRateHz: number;
  readonly outputSampleRateHz: number;
  readonly clientBufferSizeMs: number;
  /** Time without audio after which the call ends; null: no limit. */
  readonly mediaIdleTimeoutMs: number | null;
  /** What keys that the user presses are. Absent: the medium has no keys. */
  readonly digits?: DigitsPlan;
  /** The carrier reports when the greeting of an answering machine has ended. Absent: it does not. */
  readonly detectsMessageEnd?: boolean;
  /**
   * The carrier comes back when a stream breaks, because its instructions are those of the service. Absent: the call ends
   * with its stream.
   */
  readonly returns?: boolean;
};

/** `ignored`: events only. `text`: a message of the user; `{digits}` in `text` stands for the keys. */
export type DigitsPlan =
  | { readonly kind: "ignored" }
  | {
      readonly kind: "text";
      readonly text: string;
      readonly urgency: "immediate" | "soon" | "later";
    };

/** Which messages the client gets, with defaults applied. */
export type DataMessageFlags = Readonly<Record<DataMessageFlag, boolean>>;

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
  /** The model is given the user's voice. Absent: their words only. */
  readonly takesAudio?: boolean;
  readonly voice: VoicePlan;
  readonly languageHint: string | null;
  readonly timeExceededMessage: string | null;
  readonly inactivityMessages: readonly InactivityMessagePlan[];
  readonly vad: VadPlan;
  /** Tools of the stage; the names for the model are unique. */
  readonly tools: readonly ToolPlan[];
  /** Recorded as call events when the stage begins. Absent: none. */
  readonly warnings?: readonly StageWarning[];
  /** Data for the records and the next stage; the engine does not read it. */
  readonly document: StageDocument;
}

/** A setting that acts in another way than the request says. */
export interface StageWarning {
  readonly type: "voice.replaced" | "voice.overrides_ignored" | "model.replaced";
  readonly text: string;
}

/** The stage as the API shows it, without secrets. */
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
  /** Multiple of 32. */
  readonly turnEndpointDelayMs: number;
  readonly minimumTurnDurationMs: number;
  /** At least `minimumTurnDurationMs`. */
  readonly minimumInterruptionDurationMs: number;
}

export interface InitialMessage {
  readonly role: "user" | "agent" | "tool_call" | "tool_result";
  readonly text: string;
  readonly medium: "voice" | "text";
  readonly invocationId: string | null;
  readonly toolName: string | null;
}
