/** What was said, as the model sees it and as it is recorded. Rules R13, R40, R53 and R109 of SPEC.md. */

import { emit, update, type Draft } from "../draft.ts";
import type { MessageRecord } from "../effects.ts";
import type { CallPlan, InitialMessage } from "../../plan/plan.ts";
import type { CallState, History, HistoryEntry, MessageDetails } from "../state.ts";
import type { ToolAnswer, ToolCall } from "../tools/tool-state.ts";

/** Messages that the model sees: twice the longest initial history; the oldest are dropped beyond it. */
export const HISTORY_MAX_MESSAGES = 2_000;
/** Characters that the model sees, about 100,000 tokens: near what common models take. The oldest are dropped. */
export const HISTORY_MAX_CHARS = 400_000;
/** Results of one round that the model sees: half of its view, so that the messages they answer stay beside them. */
export const ROUND_RESULTS_MAX_CHARS = 200_000;
export const SHORTENED_NOTE = "\n[The rest was left out: the results of these calls are too long together.]";
/** A user who goes on after an unheard reply has one message; a monologue still breaks into bounded ones. */
export const MERGED_MESSAGE_MAX_CHARS = 4_000;
/**
 * Characters of call states, as JSON, that entries hold for tools: four of the largest. The oldest are dropped beyond it,
 * so that a conversation with its states always fits into the body of a tool's request.
 */
export const HISTORY_STATES_MAX_CHARS = 262_144;
/** Replaces speech that no recogniser understood; only the model sees it. */
export const NOT_UNDERSTOOD_NOTE =
  "[The user said something that could not be understood. Ask them briefly to say it again.]";

/** Replaces words that are not known yet, where the model hears them; shown only if their audio is missing. */
export const UNKNOWN_WORDS_NOTE = "[The user said something that has not been transcribed yet.]";
/** Utterances of one message that a model may hear; a message of more is shown as text. */
export const UTTERANCES_PER_MESSAGE_MAX = 4;

/** `startAtMs` of initial messages. */
const BEFORE_THE_CALL = -1;

export function initialHistory(plan: CallPlan): History {
  return historyOf(plan.initialMessages, plan.stage.stageId, 0);
}

function historyOf(messages: readonly InitialMessage[], stageId: string, version: number): History {
  const entries = messages.map((message, index) => initialEntry(message, index, stageId));
  const chars = entries.reduce((sum, entry) => sum + entry.text.length, 0);
  return bounded({ entries, nextIndex: entries.length, chars, version });
}

/**
 * A stage with initial messages of its own: the model sees no others, and counting starts over. Only the user's
 * last unanswered words are carried over, after them: they stay on record where they were said.
 */
export function beginHistory(draft: Draft, messages: readonly InitialMessage[]): void {
  const open = unanswered(draft.state);
  const { inputs, stage } = draft.state;
  const history = historyOf(messages, stage.stageId, draft.state.history.version + 1);
  update(draft, {
    history: bounded(open.reduce((now, entry) => append(now, { ...entry, index: null }), history)),
    inputs: { ...inputs, answeredIndex: history.nextIndex },
  });
  recordInitialMessages(draft, messages);
}

/** Words of the user that came too late for every reply, as during a round of tools, and notes that replace words. */
function unanswered({ history, inputs }: CallState): readonly HistoryEntry[] {
  const { answeredIndex } = inputs;
  const from = history.entries.findIndex(({ index }) => index !== null && index >= answeredIndex);
  return from === -1 ? [] : history.entries.slice(from).filter(({ role }) => role === "user");
}

function initialEntry(message: InitialMessage, index: number, stageId: string): HistoryEntry {
  const details = { stageId, callState: null, timespan: null, wallClockTimespan: null };
  return { ...message, index, startMediaMs: 0, startAtMs: BEFORE_THE_CALL, details };
}

/** Initial messages are messages of the stage from the start. */
export function recordInitialMessages(draft: Draft, messages: readonly InitialMessage[]): void {
  const { stage } = draft.state;
  messages.forEach((message, index) => {
    emit(draft, {
      type: "recordMessage",
      message: {
        ...message,
        index,
        stageId: stage.stageId,
        errorDetails: null,
        callState: null,
        timespan: null,
        wallClockTimespan: null,
        metadata: {},
      },
    });
  });
}

export interface Said {
  readonly text: string;
  readonly medium: "voice" | "text";
  readonly startMediaMs: number;
  readonly startAtMs: number;
  readonly endMediaMs: number;
  readonly endAtMs: number;
  /** Kept for a model that is given the user's voice. */
  readonly utteranceId?: number;
}

/** Adds and records what the user said; speech that goes on after an unanswered message is joined to it. */
export function addUserMessage(draft: Draft, given: Said): void {
  const { history, stage } = draft.state;
  const { utteranceId: _, ...words } = given;
  const said = stage.takesAudio === true ? given : words;
  const last = history.entries.at(-1);
  const added = joined(last, said) ?? newEntry("user", history.nextIndex, said);
  const entry = { ...added, details: detailsOf(draft.state, added, said) };
  const joins = last !== undefined && entry.index === last.index;
  update(draft, { history: bounded(joins ? replaceLast(history, entry) : append(history, entry)) });
  record(draft, entry);
}

/** Whether what the user says now is a message of its own, and does not continue one that is unanswered. */
export function beginsMessage({ entries }: History): boolean {
  const none = { startMediaMs: 0, startAtMs: 0, endMediaMs: 0, endAtMs: 0 };
  return joined(entries.at(-1), { text: "", medium: "voice", ...none }) === null;
}

/** What the history would be if the user's words were accepted now; the speculative reply is generated from it. */
export function withUserText(history: History, text: string, utteranceId: number | null): History {
  const none = { startMediaMs: 0, startAtMs: 0, endMediaMs: 0, endAtMs: 0 };
  const said: Said = { text, medium: "voice", ...none, ...(utteranceId === null ? {} : { utteranceId }) };
  const last = history.entries.at(-1);
  const entry = joined(last, said);
  return entry !== null
    ? replaceLast(history, entry)
    : append(history, newEntry("user", history.nextIndex, said));
}

/** Tells the model that the user spoke without being understood. */
export function addNotUnderstood(draft: Draft, utteranceId: number): void {
  const { history, stage } = draft.state;
  const note = { ...noteOf(draft.state, NOT_UNDERSTOOD_NOTE), medium: "voice" } as const;
  const utterance = stage.takesAudio === true ? { utteranceIds: [utteranceId] } : {};
  update(draft, { history: bounded(append(history, { ...note, ...utterance })) });
}

/** Tells the model what nobody has said. It is not recorded as a message. */
export function addNote(draft: Draft, text: string): void {
  update(draft, { history: bounded(append(draft.state.history, noteOf(draft.state, text))) });
}

function noteOf({ clock }: CallState, text: string): HistoryEntry {
  return {
    index: null,
    role: "user",
    text,
    medium: "text",
    invocationId: null,
    toolName: null,
    startMediaMs: clock.mediaMs,
    startAtMs: clock.atMs,
  };
}

/** Takes the place of an agent message whose first word is being heard; returns its index. */
export function openAgentMessage(draft: Draft, medium: "voice" | "text"): number {
  const { history, clock } = draft.state;
  const said = { text: "", medium, startMediaMs: clock.mediaMs, startAtMs: clock.atMs } as const;
  update(draft, { history: bounded(append(history, newEntry("agent", history.nextIndex, said))) });
  return history.nextIndex;
}

/** Fills an agent message with what was heard of it, and records it. */
export function closeAgentMessage(draft: Draft, index: number, text: string, interrupted: boolean): void {
  const { history, clock } = draft.state;
  const found = history.entries.find((entry) => entry.index === index);
  if (found === undefined) return;
  const details = detailsOf(draft.state, found, { endMediaMs: clock.mediaMs, endAtMs: clock.atMs });
  const entry: HistoryEntry = { ...found, text, details, ...(interrupted ? { interrupted } : {}) };
  update(draft, {
    history: bounded({
      ...history,
      entries: history.entries.map((other) => (other.index === index ? entry : other)),
      chars: history.chars + text.length,
      version: history.version + 1,
    }),
  });
  record(draft, entry);
}

/** Adds and records the calls of a round; their text is the arguments as JSON. */
export function addToolCalls(draft: Draft, calls: readonly ToolCall[]): void {
  for (const call of calls) addToolEntry(draft, "tool_call", call, { text: JSON.stringify(call.arguments) });
}

/** The record has the whole result; the model sees at most `seenChars` of it. */
export function addToolResult(
  draft: Draft,
  call: ToolCall,
  { text, errorDetails }: Pick<ToolAnswer, "text" | "errorDetails">,
  callState: CallState["callState"] | null,
  seenChars: number,
): void {
  addToolEntry(draft, "tool_result", call, { text, errorDetails, callState, seenChars });
}

/** Limit for each text of a round, so that all fit: short ones stay whole, long ones are cut to the same length. */
export function resultShare(lengths: readonly number[], roomChars: number): number {
  let rest = roomChars;
  for (const [taken, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(rest / (lengths.length - taken));
    if (length > share) return share;
    rest -= length;
  }
  return roomChars;
}

function addToolEntry(
  draft: Draft,
  role: "tool_call" | "tool_result",
  { invocationId, toolName }: ToolCall,
  { text, errorDetails = null, callState = null, seenChars = text.length }: ToolMessage,
): void {
  const { history, clock, outputMedium } = draft.state;
  const { mediaMs, atMs } = clock;
  const added: HistoryEntry = {
    index: history.nextIndex,
    role,
    text,
    medium: outputMedium,
    invocationId,
    toolName,
    startMediaMs: mediaMs,
    startAtMs: atMs,
  };
  const details = {
    ...detailsOf(draft.state, added, { endMediaMs: mediaMs, endAtMs: atMs }),
    callState,
  };
  const entry = { ...added, details };
  const next = append(history, { ...entry, text: shortened(text, seenChars) });
  update(draft, { history: bounded(callState === null ? next : withoutOldStates(next)) });
  record(draft, entry, errorDetails);
}

function withoutOldStates(history: History): History {
  let chars = 0;
  const entries = history.entries.toReversed().map((entry) => {
    if (!entry.details?.callState) return entry;
    chars += JSON.stringify(entry.details.callState).length;
    if (chars <= HISTORY_STATES_MAX_CHARS) return entry;
    return { ...entry, details: { ...entry.details, callState: null } };
  });
  return { ...history, entries: entries.toReversed() };
}

function newEntry(
  role: "user" | "agent",
  index: number,
  said: Pick<Said, "text" | "medium" | "startMediaMs" | "startAtMs" | "utteranceId">,
): HistoryEntry {
  const { text, medium, startMediaMs, startAtMs, utteranceId } = said;
  const spoken = utteranceId === undefined ? {} : { utteranceIds: [utteranceId] };
  const unused = { invocationId: null, toolName: null };
  return { index, role, text, medium, ...unused, startMediaMs, startAtMs, ...spoken };
}

function joined(last: HistoryEntry | undefined, said: Said): HistoryEntry | null {
  if (last?.role !== "user" || last.index === null || isInitial(last)) return null;
  if (last.medium !== "voice" || said.medium !== "voice") return null;
  const text = `${last.text} ${said.text}`;
  if (text.length > MERGED_MESSAGE_MAX_CHARS) return null;
  const { utteranceIds, ...rest } = last;
  const added = said.utteranceId;
  const all = utteranceIds === undefined || added === undefined ? [] : [...utteranceIds, added];
  const isHeard = all.length > 0 && all.length <= UTTERANCES_PER_MESSAGE_MAX;
  return { ...rest, text, ...(isHeard ? { utteranceIds: all } : {}) };
}

export function append(history: History, entry: HistoryEntry): History {
  return {
    entries: [...history.entries, entry],
    nextIndex: entry.index === null ? history.nextIndex : entry.index + 1,
    chars: history.chars + entry.text.length,
    version: history.version + 1,
  };
}

function replaceLast(history: History, entry: HistoryEntry): History {
  const last = history.entries.at(-1);
  return {
    ...history,
    entries: [...history.entries.slice(0, -1), entry],
    chars: history.chars + entry.text.length - (last?.text.length ?? 0),
    version: history.version + 1,
  };
}

export function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = Math.max(0, maxChars - SHORTENED_NOTE.length);
  return text.slice(0, end).replace(/[\uD800-\uDBFF]$/u, "") + SHORTENED_NOTE;
}

/**
 * Trims the history to its limits, but never drops what the next answer needs: the newest message, the user's last one,
 * the round of tools that came after it, and a message that is still being said. The rest is dropped, the oldest first.
 */
export function bounded(history: History): History {
  const isOver = (messages: number, characters: number) =>
    messages > HISTORY_MAX_MESSAGES || characters > HISTORY_MAX_CHARS;
  let { chars } = history;
  let count = history.entries.length;
  if (!isOver(count, chars)) return history;
  const isNeeded = neededIn(history.entries);
  const entries = history.entries.filter((entry, at) => {
    if (isNeeded(entry, at) || !isOver(count, chars)) return true;
    count -= 1;
    chars -= entry.text.length;
    return false;
  });
  return entries.length === history.entries.length ? history : { ...history, entries, chars };
}

function neededIn(entries: readonly HistoryEntry[]): (entry: HistoryEntry, at: number) => boolean {
  const lastUser = entries.findLastIndex(({ role }) => role === "user");
  const lastCall = entries.findLastIndex(({ role }) => role === "tool_call");
  const lastResult = entries.findLastIndex(({ role }) => role === "tool_result");
  // The calls of a round are recorded together, and so are its results.
  const firstCall = entries.findLastIndex(({ role }, at) => at < lastCall && role !== "tool_call") + 1;
  const isOpen = lastCall > lastResult;
  const isNew = lastCall !== -1 && (isOpen || lastResult > lastUser);
  return ({ role, text }, at) => {
    if (at === entries.length - 1 || at === lastUser || (role === "agent" && text === "")) return true;
    const ofTool = role === "tool_call" || role === "tool_result";
    return isNew && ofTool && at >= firstCall;
  };
}

interface ToolMessage extends Partial<Pick<MessageRecord, "errorDetails" | "callState">> {
  readonly text: string;
  /** Characters that the model sees; unset: all. */
  readonly seenChars?: number;
}

/** Of a message that ends now or ended before: the times are those of the call, from its join on. */
function detailsOf(
  { stage, clock }: CallState,
  { startMediaMs, startAtMs }: HistoryEntry,
  end: Pick<Said, "endMediaMs" | "endAtMs">,
): MessageDetails {
  const startMs = Math.max(0, startAtMs - (clock.joinedAtMs ?? 0));
  const endMs = Math.max(startMs, end.endAtMs - (clock.joinedAtMs ?? 0));
  return {
    stageId: stage.stageId,
    callState: null,
    timespan: { startMs: startMediaMs, endMs: Math.max(startMediaMs, end.endMediaMs) },
    wallClockTimespan: { startMs, endMs },
  };
}

function record(draft: Draft, entry: HistoryEntry, errorDetails: string | null = null): void {
  const { index, role, text, medium, invocationId, toolName, interrupted, details } = entry;
  if (index === null || details === undefined) return;
  const { stageId, callState, timespan, wallClockTimespan } = details;
  emit(draft, {
    type: "recordMessage",
    message: {
      index,
      stageId,
      role,
      text,
      medium,
      invocationId,
      toolName,
      errorDetails,
      callState,
      timespan,
      wallClockTimespan,
      metadata: interrupted === true ? { interrupted: "true" } : {},
    },
  });
}

/** Whether a message is older than the call or the stage. */
export function isInitial({ startAtMs }: HistoryEntry): boolean {
  return startAtMs === BEFORE_THE_CALL;
}

/** Whether the newest message is one that a model answers without an instruction. */
export function asksForAnswer(state: CallState): boolean {
  const last = state.history.entries.at(-1);
  return last?.role === "user" || last?.role === "tool_result";
}
