/**
 * Everything the engine can request. Imperative. The runner starts each effect without awaiting it; its result
 * returns as an event.
 */

import type { EndReason, LlmMessage, LlmTool, ServerDataMessage, TurnLatency } from "@parley/schema";
import type { StagePlan } from "../plan/plan.ts";
import type { ParameterLocation, ToolImplementation } from "../plan/tool-plan.ts";
import type { VoicePlan } from "../plan/voice-plan.ts";

export type CallEffect =
  /** Opens an utterance at the recogniser, beginning `prerollMs` of received audio before now. */
  | { readonly type: "openUtterance"; readonly utteranceId: number; readonly prerollMs: number }
  | { readonly type: "requestTranscript"; readonly utteranceId: number; readonly revision: number }
  | { readonly type: "abandonUtterance"; readonly utteranceId: number }
  | { readonly type: "generateReply"; readonly replyId: number; readonly request: ReplyRequest }
  /** A generation of a side thread, beside the reply. Answered like `generateReply`, by the events of its `generationId`. */
  | {
      readonly type: "generateSide";
      readonly generationId: number;
      readonly threadId: string;
      readonly request: ReplyRequest;
    }
  /** Nothing is posted about the generation afterwards. */
  | { readonly type: "abortSide"; readonly generationId: number }
  /** Aborts the generation and every synthesis of the reply. Says nothing about playout. */
  | { readonly type: "abortReply"; readonly replyId: number }
  /**
   * Renders a segment into the playout buffer; it is not played before `speak`. Segments play in id order. Sent again
   * for the same segment (after `segmentFailed` with `receivedMs` 0, or when the first audio took too long) it replaces
   * the earlier attempt in the same place: that attempt is aborted and posts no further event. So a failed segment
   * keeps its place until its next attempt, which the engine sends in the same step in which it learns of the failure.
   */
  | {
      readonly type: "synthesize";
      readonly replyId: number;
      readonly segmentId: number;
      readonly text: string;
      readonly voice: VoicePlan;
      readonly languageHint: string | null;
      /**
       * Last resort after the voice failed: silence as long as the text would take, so that the turn keeps its pace.
       */
      readonly silent: boolean;
      /** Tones in place of speech, for segments without text; null: speech. */
      readonly tones?: Tones | null;
    }
  /** Opens playout of a reply: buffered segments at once, later ones as they arrive. */
  | { readonly type: "speak"; readonly replyId: number }
  /** No more frames; the unheard part is retained. Answered by `playoutPaused`. */
  | { readonly type: "pausePlayout"; readonly replyId: number }
  | { readonly type: "resumePlayout"; readonly replyId: number }
  /**
   * Drops everything unheard of the reply, sent or not. Answered by `playoutCleared`. Also sent for a reply that was
   * never to be heard (no `speak`), to free its buffer; that answer is not awaited.
   */
  | { readonly type: "clearPlayout"; readonly replyId: number }
  /** Drops what follows this segment in the playout buffer and is not sent yet. */
  | { readonly type: "limitPlayout"; readonly replyId: number; readonly segmentId: number }
  | { readonly type: "setTimer"; readonly timerId: number; readonly delayMs: number }
  | { readonly type: "cancelTimer"; readonly timerId: number }
  | { readonly type: "sendDataMessage"; readonly message: ServerDataMessage }
  | { readonly type: "sendDataConnectionMessage"; readonly message: ServerDataMessage }
  /**
   * Runs a tool that the service itself reaches. Answered by exactly one `toolFinished`, unless it was aborted. The
   * request is sent at most once.
   */
  | { readonly type: "invokeTool"; readonly invocation: ToolInvocationRequest }
  /** The result is no longer awaited. Nothing is posted about it afterwards. */
  | { readonly type: "abortTool"; readonly invocationId: string }
  /**
   * A tool answered with a new stage: `document` is the text of its answer. Answered by one `stagePrepared` or
   * `stageRefused`.
   */
  | {
      readonly type: "prepareStage";
      readonly invocationId: string;
      readonly document: string;
      /** The stage that unset values come from. */
      readonly from: StagePlan;
      /** The stage may have no tools but those that the call already had. */
      readonly onlyToolsOfCall: boolean;
    }
  /** From here on this is the stage of the call: its record is created, and the engines follow its language. */
  | { readonly type: "beginStage"; readonly stage: StagePlan; readonly inheritsMessages: boolean }
  /** Counted with the stage (`errorCount`). */
  | { readonly type: "recordToolError"; readonly stageId: string; readonly toolName: string }
  /** What the model server counted in a request of the stage (`initialTokenCount`, `latestTokenCount`). */
  | { readonly type: "recordTokenCount"; readonly stageId: string; readonly inputTokens: number }
  /** Tokens of all generations of side threads so far (`billedSideInputTokens`, `billedSideOutputTokens`). */
  | { readonly type: "recordSideTokens"; readonly inputTokens: number; readonly outputTokens: number }
  /** Asks whether the utterance so far sounds finished. Answered by `turnJudged`, or never. */
  | {
      readonly type: "judgeTurn";
      readonly utteranceId: number;
      readonly revision: number;
      /** The words so far; empty when nothing was understood. */
      readonly text: string;
      /** What the agent said last. */
      readonly agentText: string;
      readonly languageHint: string | null;
    }
  | { readonly type: "recordJoined" }
  | { readonly type: "recordMessage"; readonly message: MessageRecord }
  | { readonly type: "recordCallEvent"; readonly event: CallEventRecord }
  | { readonly type: "recordTurnLatency"; readonly latency: TurnLatency }
  /**
   * The last effect of this process: the runner stores a snapshot of the state, gives the call up so that any process may
   * continue it, and closes the transport in a way that tells the client to come back. The state changes no more here.
   */
  | { readonly type: "handOver" }
  /**
   * The last effect of a call, exactly once. The runner closes the transport with `closeCode`, aborts all work, drops
   * all timers and writes the final record.
   */
  | {
      readonly type: "endCall";
      readonly reason: EndReason;
      readonly closeCode: number;
      readonly detail: string | null;
    };

export type EffectOf<T extends CallEffect["type"]> = Extract<CallEffect, { readonly type: T }>;

/** Dual tones (DTMF), one after the other. */
export interface Tones {
  /** 0-9 * # A-D */
  readonly digits: string;
  readonly toneMs: number;
  readonly spaceMs: number;
}

export interface ToolInvocationRequest {
  /** Globally unique. */
  readonly invocationId: string;
  readonly toolName: string;
  readonly implementation: Extract<ToolImplementation, { readonly kind: "http" | "mcp" | "builtIn" }>;
  /** Every parameter with its value: from the model, fixed and automatic; none without a value. */
  readonly values: readonly {
    readonly name: string;
    readonly location: ParameterLocation;
    readonly value: unknown;
    /** Set where the tool was selected, by a static parameter or an override. */
    readonly fixed?: true;
  }[];
  readonly timeoutMs: number;
}

export interface ReplyRequest {
  readonly model: string;
  readonly temperature: number;
  readonly systemPrompt: string;
  readonly messages: readonly LlmMessage[];
  readonly instruction: string | null;
  readonly languageHint: string | null;
  /** Empty: the model must answer by itself. */
  readonly tools: readonly LlmTool[];
}

export interface MessageRecord {
  /** Position in the stage, from 0. Recording the same index again replaces the message. */
  readonly index: number;
  readonly stageId: string;
  readonly role: "user" | "agent" | "tool_call" | "tool_result";
  readonly text: string;
  readonly medium: "voice" | "text";
  readonly invocationId: string | null;
  readonly toolName: string | null;
  readonly errorDetails: string | null;
  /** State of the call after a tool result that changed it. */
  readonly callState: Readonly<Record<string, unknown>> | null;
  /** Media clock since the join, or null for messages from before it. */
  readonly timespan: { readonly startMs: number; readonly endMs: number } | null;
  readonly wallClockTimespan: { readonly startMs: number; readonly endMs: number } | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface CallEventRecord {
  readonly stageId: string;
  /** Media clock since the join; 0 before it. */
  readonly callTimestampMs: number;
  /** Null before the join. */
  readonly wallClockTimestampMs: number | null;
  readonly severity: "debug" | "info" | "warning" | "error";
  /** A dotted name such as `tool.failed`. */
  readonly type: string;
  readonly text: string;
  readonly extras: Readonly<Record<string, unknown>> | null;
}
