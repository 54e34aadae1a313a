/**
 * Replies: when one is due, speculative generation, commit, and retries of a failing model.
 * Rules R12, R23, R24, R37, R47 and R108 of SPEC.md.
 */

import type { LlmTool } from "@parley/schema";
import { debug, recordEvent } from "../call-events.ts";
import { noteTokenCount, requestChars, withMessages } from "../history/context-window.ts";
import { emit, nextId, update, updateReply, type Draft } from "../draft.ts";
import {
  forgetFailures,
  markLost,
  noteFailure,
  noteSuccess,
  setRetrying,
  takeNotice,
} from "../life/engines.ts";
import type { Tones } from "../effects.ts";
import type { EventOf } from "../events.ts";
import { asksForAnswer, beginsMessage, UNKNOWN_WORDS_NOTE, withUserText } from "../history/history.ts";
import { withoutMarks } from "../history/model-messages.ts";
import { cutReply } from "./playout.ts";
import { isSpeakable, newSegment } from "./segment.ts";
import { sentencesFor } from "../sentences.ts";
import type { CallState, History, Reply, ReplyPurpose, UserTurn } from "../state.ts";
import type { WantedTimers } from "../timers.ts";
import type { ToolPlan } from "../../plan/tool-plan.ts";
import type { ToolCall } from "../tools/tool-state.ts";
import { TOOL_ROUNDS_MAX } from "../tools/round.ts";
import { isFull } from "../history/transcript.ts";

/** A user who repeatedly stops and continues would cost a generation each time. */
export const SPECULATIONS_PER_TURN = 3;
/** One that was dropped because the user went on is not counted, up to so many in a turn: pauses have become longer. */
export const SPECULATIONS_REFUNDED = 3;
/** Shown to the model after its reply broke off. */
export const CONTINUATION_INSTRUCTION =
  "A technical fault cut your last message short. Go on from where it stopped, without repeating what was said.";

/** Shown to the model when a reply is due although the newest message is its own: a fixed text came in between. */
export const CARRY_ON_INSTRUCTION =
  "Answer what the user said before your last message if that is still open; otherwise carry on.";

/** The same where there is no message at all: a stage with messages of its own has begun with none. */
export const BEGIN_STAGE_INSTRUCTION =
  "You take over a call that is under way, without its earlier messages. Begin as your role asks for.";

export interface ReplyStart {
  readonly purpose: ReplyPurpose;
  /** The text to say; null: generated. */
  readonly text: string | null;
  readonly instruction?: string | null;
  readonly uninterruptible?: boolean;
  readonly covers: number;
  /** The words that a speculative reply answers before they are accepted. */
  readonly speculatesOn?: string;
  /** The same where the model hears them and the words are not known yet. */
  readonly utteranceId?: number;
  /** Calls to make after a fixed text. */
  readonly calls?: readonly ToolCall[];
  /** Tones in place of text. */
  readonly tones?: Tones;
}

/** Takes the slot, which the caller has found free. */
export function startReply(draft: Draft, start: ReplyStart): void {
  const { history, clock, stage, outputMedium } = draft.state;
  const { purpose, text, covers, speculatesOn } = start;
  const replyId = nextId(draft, "reply");
  const mayCall = text === null && mayCallTools(draft.state, speculatesOn !== undefined);
  const reply: Reply = {
    replyId,
    purpose,
    // Tones need audio.
    medium: start.tones === undefined ? outputMedium : "voice",
    generation: text === null ? "running" : "finished",
    committed: speculatesOn === undefined,
    uninterruptible: start.uninterruptible ?? false,
    playout: "closed",
    begun: false,
    heldBy: null,
    buffer: text ?? "",
    receivedChars: 0,
    textPieces: 0,
    segments:
      start.tones === undefined ? [] : [newSegment(draft, { lead: "", text: "", tones: start.tones })],
    basis: {
      contextVersion: history.version,
      stageId: stage.stageId,
      transcript: speculatesOn ?? null,
      ...(start.utteranceId === undefined ? {} : { utteranceId: start.utteranceId }),
    },
    calls: start.calls ?? [],
    mayCall,
    requestChars: 0,
    covers,
    coversIndex: text === null ? history.nextIndex : draft.state.inputs.answeredIndex,
    cutBy: null,
    confirmedBy: null,
    transcript: { ordinal: null, shownChars: 0 },
    messageIndex: null,
    startedMediaMs: clock.mediaMs,
    startedAtMs: clock.atMs,
    lastTextAtMs: clock.atMs,
    lastPlayoutAtMs: clock.atMs,
    stallChecks: 0,
    times: { firstToken: null, firstSentence: null, firstAudio: null },
  };
  update(draft, { reply });
  if (text !== null) return;
  const { turn } = draft.state;
  const spoken = stage.takesAudio === true && turn.kind !== "quiet" ? turn.utteranceId : null;
  const seen = speculatesOn === undefined ? history : withUserText(history, speculatesOn, spoken);
  requestReply(draft, replyId, seen, start.instruction ?? null);
}

function requestReply(draft: Draft, replyId: number, history: History, instruction: string | null): void {
  const { stage } = draft.state;
  const { model, temperature, systemPrompt, languageHint } = stage;
  debug(draft, `reply ${replyId}: generation started`);
  const tools = draft.state.reply?.mayCall === true ? stage.tools.map(offered) : [];
  const empty = { model, temperature, systemPrompt, messages: [], instruction, languageHint, tools };
  const request = withMessages(draft, empty, history);
  updateReply(draft, { requestChars: requestChars(request) });
  emit(draft, { type: "generateReply", replyId, request });
}

/** A tool as the model sees it. */
export function offered({ name, description, parameters }: ToolPlan): LlmTool {
  return { name, description, parameters };
}

/** A model that calls tools repeatedly must at some point answer by itself, unless the user asks for more. */
function mayCallTools({ stage, inputs }: CallState, newInput: boolean): boolean {
  return stage.tools.length > 0 && (newInput || inputs.toolRounds < TOOL_ROUNDS_MAX);
}

/** Whether something that the user said or requested has not been answered. */
export function isReplyDue(state: CallState): boolean {
  return state.inputs.received > state.inputs.answered;
}

/** A reply is due, of tool results or again; unlike words of the user, this resets nothing. */
export function noteReplyDue(draft: Draft): void {
  const { inputs } = draft.state;
  update(draft, { inputs: { ...inputs, received: inputs.received + 1, continuation: false } });
}

/** A new input requests a reply. */
export function noteInput(draft: Draft, changes: Partial<CallState["inputs"]>): void {
  const { inputs } = draft.state;
  update(draft, {
    inputs: {
      ...inputs,
      received: inputs.received + 1,
      continuation: false,
      continuations: 0,
      toolRounds: 0,
      ...changes,
    },
  });
}

/** One frame of audio. Typed texts that come within it are one question, however many they are. */
export const ANSWER_TICK_MS = 20;

/** Typed words are answered from the next tick on, together with others that come until then. */
export function awaitTick(draft: Draft): void {
  const { clock, dataMessages } = draft.state;
  const answersFromMs = (Math.floor(clock.atMs / ANSWER_TICK_MS) + 1) * ANSWER_TICK_MS;
  update(draft, { dataMessages: { ...dataMessages, answersFromMs } });
}

/** Starts the answer that is due, once the slot is free and the user is silent. */
export function startAnswer(draft: Draft): void {
  const { inputs, engines, clock, dataMessages } = draft.state;
  if (!isReplyDue(draft.state)) {
    forgetFailures(draft, "llm");
    return;
  }
  if (engines.llm.retrying || clock.atMs < dataMessages.answersFromMs) return;
  const carryOn = draft.state.history.entries.length === 0 ? BEGIN_STAGE_INSTRUCTION : CARRY_ON_INSTRUCTION;
  const open = asksForAnswer(draft.state) ? null : carryOn;
  const instruction = inputs.continuation ? CONTINUATION_INSTRUCTION : open;
  startReply(draft, { purpose: "answer", text: null, instruction, covers: inputs.received });
}

/** Begins the answer to words not yet accepted, while the silence after them lasts. */
export function startSpeculation(draft: Draft): void {
  const { turn, engines, stage, inputs, voice, history } = draft.state;
  // A gap of one or two windows may bring words early, but is too often followed by more speech to begin a reply in it.
  if (turn.kind !== "pausing" || voice.speaking) return;
  if (engines.llm.retrying || turn.speechMs < stage.vad.minimumTurnDurationMs) return;
  // The model knows the words of a message that is continued only together with the new ones.
  const hears = stage.takesAudio === true && beginsMessage(history);
  const basis = speculativeBasis(turn, hears);
  if (basis === null) return;
  const refunded = Math.min(turn.refunds, SPECULATIONS_REFUNDED);
  if (turn.speculations - refunded >= SPECULATIONS_PER_TURN) return;
  update(draft, { turn: { ...turn, speculations: turn.speculations + 1 } });
  startReply(draft, { purpose: "answer", text: null, covers: inputs.received, ...basis });
}

/** Null: there is nothing to answer yet. A model that hears the voice need not wait for its words. */
function speculativeBasis(
  { transcript, request, utteranceId }: UserTurn,
  hears: boolean,
): Pick<ReplyStart, "speculatesOn" | "utteranceId"> | null {
  if (transcript === null) {
    return hears && request === "asked" ? { speculatesOn: UNKNOWN_WORDS_NOTE, utteranceId } : null;
  }
  const { text, understood } = transcript;
  return understood && isSpeakable(text) ? { speculatesOn: text } : null;
}

/** Drops a reply that was only speculative. */
export function dropSpeculation(draft: Draft): void {
  if (draft.state.reply?.committed === false) cutReply(draft, "speech");
}

/**
 * The turn was accepted: the speculative reply is used if it answers these words, or this voice, in this context. `text`
 * null: they were not understood. `contextVersion` is the history's version before the words were added.
 */
export function commitReply(
  draft: Draft,
  text: string | null,
  utteranceId: number,
  contextVersion: number,
): void {
  const { reply, inputs, outputMedium } = draft.state;
  if (reply === null || reply.committed) return;
  const { basis } = reply;
  const { stageId } = draft.state.stage;
  const sameBasis = basis.contextVersion === contextVersion && basis.stageId === stageId;
  const sameWords = text !== null && normalized(basis.transcript ?? "") === normalized(text);
  // More speech drops the reply, so that an utterance that is still the same has the same voice.
  const isSame = basis.utteranceId === undefined ? sameWords : basis.utteranceId === utteranceId;
  if (!sameBasis || !isSame || reply.medium !== outputMedium) {
    dropSpeculation(draft);
    return;
  }
  debug(draft, `reply ${reply.replyId}: speculation used`);
  const { nextIndex } = draft.state.history;
  updateReply(draft, { committed: true, covers: inputs.received, coversIndex: nextIndex });
}

function normalized(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** The reply of an event, or null when it is no longer the one being generated. */
export function generating(draft: Draft, replyId: number): Reply | null {
  const { reply } = draft.state;
  if (reply === null || reply.replyId !== replyId) return null;
  return reply.generation === "running" && reply.playout !== "cutting" ? reply : null;
}

export function onReplyText(draft: Draft, { replyId, text }: EventOf<"replyTextReceived">): void {
  const reply = generating(draft, replyId);
  // Text beyond the limit is no sign of life either: a model that never ends is stopped by the time limit for a stall.
  if (reply === null || text === "" || isFull(draft.state, reply)) return;
  const { clock, plan } = draft.state;
  const room = plan.turnTaking.maximumReplyChars - reply.receivedChars;
  const receivedChars = reply.receivedChars + text.length;
  if (text.length > room) {
    const limit = plan.turnTaking.maximumReplyChars;
    recordEvent(draft, {
      severity: "warning",
      type: "llm.failed",
      text: `a reply was cut at ${limit} characters`,
    });
  }
  updateReply(draft, {
    buffer: withoutMarks(reply.buffer + text.slice(0, room)),
    receivedChars,
    textPieces: reply.textPieces + 1,
    lastTextAtMs: clock.atMs,
    times: { ...reply.times, firstToken: reply.times.firstToken ?? clock.atMs },
  });
}

export function onReplyTextFinished(draft: Draft, event: EventOf<"replyTextFinished">): void {
  const finished = draft.state.reply;
  if (finished?.replyId === event.replyId && event.inputTokens !== null) {
    const { stageId } = finished.basis;
    emit(draft, { type: "recordTokenCount", stageId, inputTokens: event.inputTokens });
    noteTokenCount(draft, finished.requestChars, event.inputTokens);
  }
  const reply = generating(draft, event.replyId);
  if (reply === null) return;
  noteSuccess(draft, "llm");
  const { medium, buffer, calls } = reply;
  const says = medium === "text" ? buffer.trim() !== "" : isSpeakable(buffer);
  const empty = calls.length === 0 && reply.segments.length === 0 && !says;
  if (empty) {
    recordEvent(draft, {
      severity: "warning",
      type: "llm.failed",
      text: "the language model gave nothing that can be spoken",
    });
  }
  updateReply(draft, {
    generation: "finished",
    buffer: empty ? substitute(draft.state, reply) : reply.buffer,
  });
}

/** Said in place of a reply that has nothing to say. A continuation then simply ends. */
function substitute(state: CallState, reply: Reply): string {
  const sentences = sentencesFor(state.stage.languageHint);
  if (state.inputs.continuation) return "";
  return reply.purpose === "opening" ? sentences.greeting : sentences.sayAgain;
}

export function onReplyFailed(draft: Draft, event: EventOf<"replyFailed">): void {
  const { replyId, error, permanent, exhausted } = event;
  const reply = generating(draft, replyId);
  if (reply === null) return;
  failReply(draft, error);
  if (permanent === true) markLost(draft, "llm");
  else if (exhausted === true && reply.committed && !reply.begun && reply.medium === "voice")
    askForPatience(draft);
}

/** The user waits, and no model answers: the next attempt follows the sentence. */
function askForPatience(draft: Draft): void {
  if (!takeNotice(draft, "llm")) return;
  const text = sentencesFor(draft.state.stage.languageHint).moment;
  const notice = { text, calls: [], uninterruptible: false, immediate: true };
  update(draft, { forced: [notice, ...draft.state.forced] });
}

/** Unheard, the whole reply is generated again; otherwise its finished sentences are said and another continues it. */
function failReply(draft: Draft, error: string): void {
  const { reply } = draft.state;
  if (reply !== null && isFull(draft.state, reply)) {
    // Nothing was missing but calls that may not have come.
    updateReply(draft, { generation: "finished" });
    return;
  }
  noteFailure(draft, "llm", error);
  setRetrying(draft, "llm", true);
  if (reply?.begun === true) updateReply(draft, { generation: "failed", buffer: "" });
  else cutReply(draft, "failure");
}

export function replyTimers(state: CallState): WantedTimers {
  const { reply, plan, clock } = state;
  const { answersFromMs } = state.dataMessages;
  if (reply === null && state.toolRound === null && isReplyDue(state) && clock.atMs < answersFromMs) {
    return { tick: { key: `${answersFromMs}`, delayMs: answersFromMs - clock.atMs } };
  }
  if (reply === null || reply.generation !== "running" || reply.playout === "cutting") return {};
  if (reply.textPieces === 0) {
    return { reply: { key: `${reply.replyId}:first`, delayMs: plan.turnTaking.replyTimeoutMs } };
  }
  // Not reset with each piece of text, but checked again when it fires.
  const passedMs = clock.atMs - reply.lastTextAtMs;
  const key = `${reply.replyId}:${reply.stallChecks}`;
  return { reply: { key, delayMs: plan.turnTaking.replyStallMs - passedMs } };
}

export function onReplyTimer(draft: Draft): void {
  const { reply, clock, plan } = draft.state;
  if (reply === null) return;
  const { replyTimeoutMs, replyStallMs } = plan.turnTaking;
  if (reply.textPieces === 0) failReply(draft, `no text within ${replyTimeoutMs} ms`);
  else if (clock.atMs - reply.lastTextAtMs >= replyStallMs)
    failReply(draft, `no text for ${replyStallMs} ms`);
  else updateReply(draft, { stallChecks: reply.stallChecks + 1 });
}
