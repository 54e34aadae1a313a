/**
 * The spans of turns: what the user said or wrote with the answers to it, or what the agent said by itself. Read from
 * the state after each event; a turn without any request to an engine or a tool has no span.
 */

import type { TurnLatency } from "@parley/schema";
import type { CallState } from "../../call/call.ts";
import type { CallEffect, CallEventRecord } from "../../call/effects.ts";
import type { CallEngineEvent } from "../../call/events.ts";
import { isReplyDue } from "../../call/reply/reply.ts";
import type { Reply } from "../../call/state.ts";
import type { Span, SpanAttributes } from "../../ports/traces.ts";
import type { SpanBudget } from "./span-budget.ts";

interface Turn {
  /** What began it: the user by speech or text, or the purpose of a reply that the agent made by itself. */
  readonly cause: "speech" | "text" | Reply["purpose"];
  readonly utteranceId: number | null;
  readonly startAtMs: number;
  /** Speech is a turn only once it is accepted as one. */
  accepted: boolean;
  turnId: number | null;
  /** Something of an answer was heard or shown. */
  begun: boolean;
  interrupted: boolean;
  /** Null before its first request, and beyond the limit of spans. */
  span: Span | null;
}

/** The steps of a turn, as notes of its span. */
const STEPS = [
  ["endOfTurnMs", "end of turn", "parley.turn.end_of_turn_ms"],
  ["transcriptFinalMs", "transcript final", "parley.turn.transcript_final_ms"],
  ["firstTokenMs", "first token", "parley.turn.first_token_ms"],
  ["firstSentenceMs", "first sentence", "parley.turn.first_sentence_ms"],
  ["firstAudioMs", "first audio", "parley.turn.first_audio_ms"],
  ["firstPlayedMs", "first played", "parley.turn.first_played_ms"],
] as const satisfies readonly (readonly [keyof TurnLatency, string, string])[];

export interface TurnSpansDeps {
  readonly root: Span;
  readonly budget: SpanBudget;
  readonly wallMs: (atMs: number) => number;
}

export class TurnSpans {
  readonly #deps: TurnSpansDeps;
  /** Open ones, oldest first: those of the user's speech, of the reply, and of what is to be answered. */
  readonly #open: Turn[] = [];
  readonly #byReply = new Map<number, Turn>();
  /** To which the next answer belongs. */
  #current: Turn | null = null;
  #nextTurnId = 1;
  #received = 0;
  /** Turns of the user. */
  count = 0;

  constructor(deps: TurnSpansDeps) {
    this.#deps = deps;
  }

  /** Before the requests of the same step. */
  take(event: CallEngineEvent, state: CallState, effects: readonly CallEffect[]): void {
    const { atMs } = event;
    for (const effect of effects) {
      if (effect.type === "openUtterance") this.#openSpeech(effect.utteranceId, state, atMs);
      if (effect.type === "abandonUtterance" && state.ids.turn > this.#nextTurnId)
        this.#accept(effect.utteranceId, state.ids.turn - 1);
    }
    if (state.inputs.received > this.#received && isTyped(event)) {
      this.count += 1;
      this.#current = this.#add({ cause: "text", startAtMs: atMs });
    }
    this.#nextTurnId = state.ids.turn;
    this.#received = state.inputs.received;
    const { reply } = state;
    if (reply === null) return;
    const turn = this.#turnOf(reply.replyId, state, atMs);
    turn.begun ||= reply.begun;
  }

  /** After the requests of the same step: ends the turns in which nothing happens any more. */
  settle(state: CallState, atMs: number): void {
    for (const turn of this.#open.slice()) if (!this.#isActive(turn, state)) this.#end(turn, atMs);
  }

  ofUtterance(utteranceId: number): Span | null {
    const turn = this.#open.find((one) => one.utteranceId === utteranceId);
    return turn === undefined ? null : this.#spanOf(turn);
  }

  ofReply(replyId: number, state: CallState, atMs: number): Span | null {
    return this.#spanOf(this.#turnOf(replyId, state, atMs));
  }

  /** Of tools: their turn is that of the reply that called them, which may be speculative. */
  ofTool(invocationId: string, state: CallState, atMs: number): Span | null {
    const { reply } = state;
    if (reply?.calls.some((call) => call.invocationId === invocationId) === true)
      return this.ofReply(reply.replyId, state, atMs);
    this.#current ??= this.#add({ cause: "answer", startAtMs: atMs });
    return this.#spanOf(this.#current);
  }

  answered(latency: TurnLatency, atMs: number): void {
    const span = this.#open.find(({ turnId }) => turnId === latency.turnId)?.span ?? null;
    if (span === null) return;
    const speechEndMs = this.#deps.wallMs(atMs) - (latency.firstPlayedMs ?? 0);
    const attributes: Record<string, number | boolean> = { "parley.turn.speculative": latency.speculative };
    for (const [field, name, attribute] of STEPS) {
      const afterMs = latency[field];
      if (afterMs === null) continue;
      attributes[attribute] = afterMs;
      span.note(name, speechEndMs + afterMs);
    }
    span.set(attributes);
  }

  recorded({ type, extras }: CallEventRecord, atMs: number): void {
    if (type === "turn.not_understood") this.#current?.span?.set({ "parley.turn.understood": false });
    if (type !== "turn.interrupted") return;
    const replyId = extras?.["replyId"];
    const turn = typeof replyId === "number" ? this.#byReply.get(replyId) : undefined;
    if (turn === undefined) return;
    const cause = extras?.["cause"];
    const attributes = { "parley.turn.interrupted_by": typeof cause === "string" ? cause : "unknown" };
    turn.interrupted = true;
    turn.span?.set(attributes);
    turn.span?.note("interrupted", this.#deps.wallMs(atMs), attributes);
  }

  /** The call is over. */
  finish(atMs: number): void {
    for (const turn of this.#open.slice()) this.#end(turn, atMs, "cut_off");
  }

  #openSpeech(utteranceId: number, { turn }: CallState, atMs: number): void {
    const isIts = turn.kind !== "quiet" && turn.utteranceId === utteranceId;
    this.#add({ cause: "speech", utteranceId, startAtMs: isIts ? turn.startAtMs : atMs });
  }

  #accept(utteranceId: number, turnId: number): void {
    const turn = this.#open.find((one) => one.utteranceId === utteranceId);
    if (turn === undefined) return;
    this.count += 1;
    turn.accepted = true;
    turn.turnId = turnId;
    this.#current = turn;
  }

  #add(begun: Pick<Turn, "cause" | "startAtMs"> & { readonly utteranceId?: number }): Turn {
    const { utteranceId = null, ...rest } = begun;
    const accepted = rest.cause !== "speech";
    const turn: Turn = {
      ...rest,
      utteranceId,
      accepted,
      turnId: null,
      begun: false,
      interrupted: false,
      span: null,
    };
    this.#open.push(turn);
    return turn;
  }

  #turnOf(replyId: number, state: CallState, atMs: number): Turn {
    const known = this.#byReply.get(replyId);
    if (known !== undefined) return known;
    const turn = this.#turnFor(state.reply?.replyId === replyId ? state.reply : null, atMs);
    this.#byReply.set(replyId, turn);
    return turn;
  }

  #turnFor(reply: Reply | null, atMs: number): Turn {
    const purpose = reply?.purpose ?? "answer";
    // Begun before the user's words are accepted.
    const isSpeculative = reply !== null && reply.basis.transcript !== null;
    const speech = isSpeculative ? this.#open.findLast(({ cause }) => cause === "speech") : undefined;
    if (speech !== undefined) return speech;
    const continues = purpose === "answer" || purpose === "tones";
    if (continues && this.#current !== null) return this.#current;
    this.#current = this.#add({ cause: purpose, startAtMs: atMs });
    return this.#current;
  }

  #isActive(turn: Turn, state: CallState): boolean {
    const { reply, toolRound } = state;
    if (state.turn.kind !== "quiet" && state.turn.utteranceId === turn.utteranceId) return true;
    if (reply !== null && this.#byReply.get(reply.replyId) === turn) return true;
    // No answer follows the last words of a call.
    if (turn !== this.#current || turn.cause === "parting") return false;
    return toolRound !== null || isReplyDue(state);
  }

  #spanOf(turn: Turn): Span | null {
    const { root, budget, wallMs } = this.#deps;
    const { cause, startAtMs } = turn;
    turn.span ??= budget.begin(root, {
      name: "turn",
      kind: "internal",
      startMs: wallMs(startAtMs),
      attributes: { "parley.turn.cause": cause },
    });
    return turn.span;
  }

  #end(turn: Turn, atMs: number, outcome = outcomeOf(turn)): void {
    this.#open.splice(this.#open.indexOf(turn), 1);
    for (const [replyId, other] of this.#byReply) if (other === turn) this.#byReply.delete(replyId);
    if (this.#current === turn) this.#current = null;
    const id: SpanAttributes = turn.turnId === null ? {} : { "parley.turn.id": turn.turnId };
    turn.span?.set({ ...id, "parley.turn.outcome": outcome });
    turn.span?.end(this.#deps.wallMs(atMs), null);
  }
}

/** dropped: it was no turn, such as a cough. unanswered: nothing of an answer was heard or shown. */
function outcomeOf({ accepted, begun, interrupted }: Turn): string {
  if (!accepted) return "dropped";
  if (interrupted) return "interrupted";
  return begun ? "finished" : "unanswered";
}

/** What the user has written. */
export function isTyped(event: CallEngineEvent): boolean {
  if (event.type !== "dataMessageReceived") return false;
  return event.message.type === "user_text_message" || event.message.type === "input_text_message";
}
