/** The messages of a call and the early words of the next one, as its state holds them. */

import type { MessageRecord } from "../effects.ts";

/** What is recorded of a message and not in its entry; tools get it with the conversation. */
export type MessageDetails = Pick<MessageRecord, "stageId" | "callState" | "timespan" | "wallClockTimespan">;

export interface HistoryEntry {
  /** Unset while the message is being said, and for entries that are not recorded. */
  readonly details?: MessageDetails;
  /** Set if the message was interrupted; then the text is what was heard. */
  readonly interrupted?: true;
  /** Position in the stage; null for entries that are not recorded. */
  readonly index: number | null;
  readonly role: "user" | "agent" | "tool_call" | "tool_result";
  readonly text: string;
  readonly medium: "voice" | "text";
  readonly invocationId: string | null;
  readonly toolName: string | null;
  readonly startMediaMs: number;
  readonly startAtMs: number;
  /** Whose words these are, in order; only for a model that is given the user's voice. Unset: the text only. */
  readonly utteranceIds?: readonly number[];
}

export interface History {
  readonly entries: readonly HistoryEntry[];
  readonly nextIndex: number;
  readonly chars: number;
  /** Increases with each change that the model would see. */
  readonly version: number;
}

/** Early words of the user, for a client that asks for them. */
export interface PartialWords {
  /** The client asked for them. */
  readonly asked: boolean;
  /** The last message that nothing has replaced; null: there is none. */
  readonly shown: { readonly ordinal: number; readonly text: string } | null;
  readonly lastAtMs: number;
}

/** How much of the history a request contains. */
export interface ContextWindow {
  /** Ratio that the model reported for its latest long request, but never more than the estimate. */
  readonly charsPerToken: number;
  /** Whether a part of the history was left out in this call. */
  readonly shortened: boolean;
}
