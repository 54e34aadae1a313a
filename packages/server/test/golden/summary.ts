/** What happened in a call, read off its events and effects: times in ms of the call's clock. */

import { parseDurationMs, type EndReason } from "@parley/schema";
import type { CallEffect, EffectOf } from "../../src/call/effects.ts";
import type { CallEngineEvent } from "../../src/call/events.ts";

export interface UtteranceSummary {
  readonly fromMs: number;
  /** End of the last window that counted as speech. */
  readonly speechEndMs: number;
  readonly endMs: number;
  readonly transcriptsAsked: number;
  /** Words of the turn; null: it was not a turn, or was not understood. */
  readonly text: string | null;
}

export interface ReplySummary {
  readonly replyId: number;
  readonly askedMs: number;
  /** Null: it was never to be heard. */
  readonly spokenMs: number | null;
  readonly outcome: "running" | "said" | "cut" | "dropped";
  readonly endMs: number | null;
  /** The part of it that was heard. */
  readonly text: string | null;
}

export interface PauseSummary {
  readonly replyId: number;
  readonly pausedMs: number;
  readonly outcome: "open" | "cut" | "resumed";
  readonly endMs: number | null;
}

export interface Summary {
  readonly utterances: readonly UtteranceSummary[];
  readonly replies: readonly ReplySummary[];
  readonly pauses: readonly PauseSummary[];
  readonly endReason: EndReason | null;
}

interface Observed {
  readonly event: CallEngineEvent;
  readonly effects: readonly CallEffect[];
}

type Changing<T> = { -readonly [K in keyof T]: T[K] };
type MessageEffect = EffectOf<"sendDataMessage">;

export function summarise(steps: readonly Observed[]): Summary {
  const account = new Account();
  for (const step of steps) account.add(step);
  return account.summary();
}

class Account {
  readonly #utterances: Changing<UtteranceSummary>[] = [];
  readonly #replies = new Map<number, Changing<ReplySummary>>();
  readonly #pauses: Changing<PauseSummary>[] = [];
  readonly #replyOfOrdinal = new Map<number, number>();
  #voice = { startedMs: 0, stoppedMs: 0 };
  #endReason: EndReason | null = null;

  add({ event, effects }: Observed): void {
    for (const effect of effects) this.#effect(effect, event);
  }

  summary(): Summary {
    return {
      utterances: this.#utterances,
      replies: [...this.#replies.values()],
      pauses: this.#pauses,
      endReason: this.#endReason,
    };
  }

  #effect(effect: CallEffect, event: CallEngineEvent): void {
    const { atMs } = event;
    const utterance = this.#utterances.at(-1);
    switch (effect.type) {
      case "openUtterance":
        this.#utterances.push({
          fromMs: this.#voice.startedMs,
          speechEndMs: 0,
          endMs: 0,
          transcriptsAsked: 0,
          text: null,
        });
        break;
      case "requestTranscript":
        if (utterance !== undefined) utterance.transcriptsAsked += 1;
        break;
      case "abandonUtterance":
        if (utterance !== undefined) {
          Object.assign(utterance, { speechEndMs: this.#voice.stoppedMs, endMs: atMs });
        }
        break;
      case "generateReply":
        this.#reply(effect.replyId, atMs);
        break;
      case "speak":
        this.#reply(effect.replyId, atMs).spokenMs = atMs;
        break;
      case "abortReply":
      case "clearPlayout":
        this.#endReply(effect.replyId, atMs);
        break;
      case "pausePlayout":
        this.#pauses.push({ replyId: effect.replyId, pausedMs: atMs, outcome: "open", endMs: null });
        break;
      case "resumePlayout":
        this.#endPause(effect.replyId, "resumed", atMs);
        break;
      case "sendDataMessage":
        this.#message(effect, event);
        break;
      case "endCall":
        this.#endReason = effect.reason;
        break;
      case "synthesize":
      case "setTimer":
      case "cancelTimer":
      case "limitPlayout":
      case "handOver":
      case "sendDataConnectionMessage":
      case "invokeTool":
      case "abortTool":
      case "prepareStage":
      case "beginStage":
      case "recordToolError":
      case "recordTokenCount":
      case "recordSideTokens":
      case "generateSide":
      case "abortSide":
      case "judgeTurn":
      case "recordJoined":
      case "recordMessage":
      case "recordCallEvent":
      case "recordTurnLatency":
        break;
    }
  }

  #message({ message }: MessageEffect, event: CallEngineEvent): void {
    if (message.type === "user_started_speaking") {
      this.#voice.startedMs = parseDurationMs(message.callTimestamp);
    }
    if (message.type === "user_stopped_speaking") {
      this.#voice.stoppedMs = parseDurationMs(message.callTimestamp);
    }
    if (message.type !== "transcript") return;
    const { role, ordinal, final, text = "" } = message;
    const utterance = this.#utterances.at(-1);
    if (role === "user" && final && utterance !== undefined) utterance.text = text;
    if (role === "user") return;
    if (event.type === "segmentPlayoutAdvanced" && !this.#replyOfOrdinal.has(ordinal)) {
      this.#replyOfOrdinal.set(ordinal, event.replyId);
    }
    if (!final) return;
    const replyId = this.#replyOfOrdinal.get(ordinal);
    if (replyId === undefined) throw new Error(`transcript ${ordinal} belongs to no reply that was heard`);
    const reply = this.#reply(replyId, event.atMs);
    reply.text = text;
    if (reply.outcome !== "running") return;
    Object.assign(reply, { outcome: "said", endMs: event.atMs });
  }

  /** A fixed text is spoken without a request to the model. */
  #reply(replyId: number, atMs: number): Changing<ReplySummary> {
    const known = this.#replies.get(replyId);
    if (known !== undefined) return known;
    const reply: Changing<ReplySummary> = {
      replyId,
      askedMs: atMs,
      spokenMs: null,
      outcome: "running",
      endMs: null,
      text: null,
    };
    this.#replies.set(replyId, reply);
    return reply;
  }

  #endReply(replyId: number, atMs: number): void {
    this.#endPause(replyId, "cut", atMs);
    const reply = this.#reply(replyId, atMs);
    if (reply.outcome !== "running") return;
    Object.assign(reply, { outcome: reply.spokenMs === null ? "dropped" : "cut", endMs: atMs });
  }

  #endPause(replyId: number, outcome: "cut" | "resumed", atMs: number): void {
    const pause = this.#pauses.at(-1);
    if (pause?.replyId === replyId && pause.outcome === "open")
      Object.assign(pause, { outcome, endMs: atMs });
  }
}
