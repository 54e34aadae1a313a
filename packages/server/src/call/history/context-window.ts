/**
 * The model's context window: which messages of a long call go into a request. System prompt, instruction and tools
 * always do; then the messages that the call or stage began with, up to a third of the limit, and the newest ones.
 * A note replaces those between. The record is not changed.
 * Rules R40 and R72 to R74 of SPEC.md.
 */

import type { LlmMessage } from "@parley/schema";
import { debug, recordEvent } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import type { ReplyRequest } from "../effects.ts";
import { ROUND_RESULTS_MAX_CHARS } from "./history.ts";
import { messageUnits, type MessageUnit } from "./model-messages.ts";
import type { CallState, History } from "../state.ts";
import type { ContextWindow } from "./history-state.ts";

/** English text has four to five. Only ever lowered: too small a request loses history, too large a one the reply. */
export const CHARS_PER_TOKEN = 4;
/** Scripts of two tokens a character exist; a count beyond that is not of this request. */
export const CHARS_PER_TOKEN_LEAST = 0.5;
/** The count of a shorter request is mostly what the server's own template adds. */
export const MEASURED_FROM_CHARS = 2_000;
/** Role and marks around each message: about four tokens. */
export const MESSAGE_OVERHEAD_CHARS = 16;
/** Share of the limit that initial messages may take during the whole call. */
export const INITIAL_SHARE = 1 / 3;
/** Stands for what was left out; only the model sees it. */
export const LEFT_OUT_NOTE = "[Earlier parts of this conversation were left out.]";

export const FULL_WINDOW: ContextWindow = { charsPerToken: CHARS_PER_TOKEN, shortened: false };

const NOTE: LlmMessage = { role: "user", text: LEFT_OUT_NOTE };

export interface WindowedMessages {
  readonly messages: readonly LlmMessage[];
  /** Messages that the model does not see. */
  readonly leftOut: number;
}

/**
 * The messages of `history` that fit into `roomChars`. A round of tool calls and its results stay together. The newest
 * message (or round) is always included, even where it alone takes more. Initial messages are retained from the first
 * on as long as they fit into their share, and into what the newest leaves; then the newest without a gap.
 */
export function messagesWithin(history: History, roomChars: number): WindowedMessages {
  const units = messageUnits(history).map((unit) => ({ ...unit, chars: charsOf(unit.messages) }));
  const wholeChars = units.reduce((sum, { chars }) => sum + chars, 0);
  const newest = units.at(-1);
  const isOver = wholeChars > roomChars;
  if (!isOver || newest === undefined) return { messages: flat(units), leftOut: 0 };
  let rest = roomChars - newest.chars - charsOf([NOTE]);
  // A gap without its note would make nonsense of what is before it.
  if (rest < 0) return { messages: newest.messages, leftOut: flat(units.slice(0, -1)).length };
  let initialRest = Math.min(rest, roomChars * INITIAL_SHARE);
  let head = 0;
  for (const { initial, chars } of units.slice(0, -1)) {
    if (!initial || chars > initialRest) break;
    initialRest -= chars;
    rest -= chars;
    head += 1;
  }
  let from = units.length - 1;
  for (const { chars } of units.slice(head, -1).toReversed()) {
    if (chars > rest) break;
    rest -= chars;
    from -= 1;
  }
  const gap = units.slice(head, from);
  return {
    messages: [...flat(units.slice(0, head)), NOTE, ...flat(units.slice(from))],
    leftOut: flat(gap).length,
  };
}

function flat(units: readonly MessageUnit[]): readonly LlmMessage[] {
  return units.flatMap(({ messages }) => messages);
}

/** Characters that the messages count as. */
export function charsOf(messages: readonly LlmMessage[]): number {
  return messages.reduce((sum, message) => sum + MESSAGE_OVERHEAD_CHARS + charsIn(message), 0);
}

function charsIn(message: LlmMessage): number {
  if (message.role === "tool") return message.text.length + message.toolName.length;
  if (message.role === "user" || message.toolCalls === undefined) return message.text.length;
  return message.text.length + JSON.stringify(message.toolCalls).length;
}

function fixedChars({ systemPrompt, instruction, tools }: ReplyRequest): number {
  const toolChars = tools.length === 0 ? 0 : JSON.stringify(tools).length;
  return systemPrompt.length + (instruction?.length ?? 0) + toolChars;
}

/** Share of the window for the results of one round; the rest is for the question, the prompt and the tools. */
const RESULTS_SHARE = 3 / 4;

/** Characters that the model sees of the results of one round together. */
export function resultsRoomChars({ plan, contextWindow }: CallState): number {
  const windowChars = plan.turnTaking.contextWindowTokens * contextWindow.charsPerToken;
  return Math.min(ROUND_RESULTS_MAX_CHARS, Math.floor(windowChars * RESULTS_SHARE));
}

/** The request, with as many messages as fit into the model's window. The first omission is recorded. */
export function withMessages(draft: Draft, request: ReplyRequest, history: History): ReplyRequest {
  const { messages, leftOut } = windowOf(draft.state, request, history);
  if (leftOut > 0) noteLeftOut(draft, leftOut);
  return { ...request, messages };
}

/** The messages that fit into the model's window beside the fixed parts of a request. */
export function windowOf(
  { plan, contextWindow }: CallState,
  request: ReplyRequest,
  history: History,
): WindowedMessages {
  const windowChars = plan.turnTaking.contextWindowTokens * contextWindow.charsPerToken;
  return messagesWithin(history, windowChars - fixedChars(request));
}

function noteLeftOut(draft: Draft, leftOut: number): void {
  const { contextWindow, plan } = draft.state;
  debug(draft, `the model is not shown ${leftOut} earlier messages`);
  if (contextWindow.shortened) return;
  update(draft, { contextWindow: { ...contextWindow, shortened: true } });
  recordEvent(draft, {
    severity: "info",
    type: "llm.context_shortened",
    text: "the call is longer than the model's window; from here on it is shown only the latest part",
    extras: { contextWindowTokens: plan.turnTaking.contextWindowTokens, leftOut },
  });
}

/** Characters of a whole request, to be compared with the tokens that the model counts in it. */
export function requestChars(request: ReplyRequest): number {
  return fixedChars(request) + charsOf(request.messages);
}

/** The model has counted the tokens of a request: from now on this call's characters are estimated by that. */
export function noteTokenCount(draft: Draft, chars: number, inputTokens: number): void {
  if (chars < MEASURED_FROM_CHARS || inputTokens <= 0) return;
  const measured = Math.max(CHARS_PER_TOKEN_LEAST, Math.min(CHARS_PER_TOKEN, chars / inputTokens));
  const { contextWindow } = draft.state;
  if (measured !== contextWindow.charsPerToken)
    update(draft, { contextWindow: { ...contextWindow, charsPerToken: measured } });
}
