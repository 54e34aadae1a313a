/** The state of tools: the calls that a model made, how far each has come, and the round that is open. */

import type { Reaction, ThreadDataMessage } from "@parley/schema";
import type { InitialMessage, StagePlan } from "../../plan/plan.ts";

/** A call as the model made it; the model's own id of it is not stored. */
export interface ToolCall {
  /** Globally unique. */
  readonly invocationId: string;
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Why it cannot be carried out, or null. */
  readonly problem: string | null;
  /** The result that came with a forced call, which then is never invoked; null: it runs. */
  readonly knownResult: string | null;
  readonly progress: ToolProgress;
  /** Failed before its call was sure to count: noted once it does. */
  readonly earlyFailure: ToolFailure | null;
}

export interface ToolFailure {
  readonly cause: "timeout" | "error";
  readonly text: string;
}

/**
 * waiting → running (→ staging: its new stage is being prepared), or → sounding (tones), or → awaitingBeep (of an
 * answering machine) → answered, once.
 */
export type ToolProgress =
  | { readonly kind: "waiting" }
  | { readonly kind: "running"; readonly deadlineAtMs: number }
  /** `replyId` null: its tones wait for the slot. */
  | { readonly kind: "sounding"; readonly replyId: number | null }
  | { readonly kind: "awaitingBeep"; readonly deadlineAtMs: number }
  /** `deadlineAtMs` null: nothing was sent yet, because the call is not yet sure to count. */
  | ({
      readonly kind: "staging";
      readonly document: string;
      readonly onlyToolsOfCall: boolean;
      readonly deadlineAtMs: number | null;
    } & Pick<ToolAnswer, "reaction" | "stateChanges">)
  | { readonly kind: "answered"; readonly answer: ToolAnswer };

export interface ToolAnswer {
  /** The text that the model sees. */
  readonly text: string;
  /** For the record only; null: it did not fail. */
  readonly errorDetails: string | null;
  /** Null: the tool's own. */
  readonly reaction: Reaction | null;
  readonly stateChanges: Readonly<Record<string, unknown>> | null;
  readonly consequence: ToolConsequence | null;
}

/** What else an answer requests, once its round is complete. */
export type ToolConsequence =
  | {
      readonly kind: "hangUp";
      readonly strict: boolean;
      /** Empty: nothing is said. */
      readonly message: string;
      readonly reason: string | null;
    }
  | ({ readonly kind: "newStage" } & NewStage)
  | {
      readonly kind: "sendToThread";
      readonly message: ThreadDataMessage;
      /** For each tool call of the message why it cannot be carried out, or null. */
      readonly problems: readonly (string | null)[];
    };

export interface NewStage {
  readonly stage: StagePlan;
  /** Null: the messages so far are inherited. */
  readonly initialMessages: readonly InitialMessage[] | null;
  /** Null: the state of the call is inherited. */
  readonly initialState: Readonly<Record<string, unknown>> | null;
}

/** The calls of one generation from their recording on, until each has its result. No reply starts meanwhile. */
export interface ToolRound {
  readonly calls: readonly ToolCall[];
  /** The agent spoke right before the calls. */
  readonly spoke: boolean;
  /** The agent has said that it takes a moment. */
  readonly filled?: true;
}

/** An invocation whose static response was given in its place: only its failure is of interest. */
export interface UnawaitedTool {
  readonly invocationId: string;
  readonly toolName: string;
  readonly deadlineAtMs: number;
}

/** A message that the agent is to say exactly so, with calls to make. */
export interface ForcedMessage {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly uninterruptible: boolean;
  readonly immediate: boolean;
}
