/**
 * What a live call uses of its engines, in all and for each turn. Engines report each request when it is over; the
 * turns are read from the events and effects of the call's engine, as those of traces are.
 */

import {
  costOf,
  shownEngineUse,
  type CallEngineSums,
  type CallUseRecord,
  type EngineUse,
} from "@parley/schema";
import type { CallState } from "../../call/call.ts";
import type { CallEffect, CallEventRecord } from "../../call/effects.ts";
import type { CallEngineEvent } from "../../call/events.ts";
import type { UseListener } from "../../ports/engine-use.ts";
import { isTyped } from "../traces/turn-spans.ts";
import { UseSums } from "./use-sums.ts";

/** The type of the event that says what a turn has used. */
export const USED_EVENT = "engines.used";

/** What the user said or wrote, with the answers to it. */
interface Turn {
  /** As in `turn.completed`; null: typed, or the agent spoke by itself. */
  turnId: number | null;
  readonly sums: UseSums;
  /** Requests that are not over. */
  open: number;
  /** Another turn has begun. */
  isOver: boolean;
  isRecorded: boolean;
}

export interface CallUseOptions {
  /** Null: there are no prices. */
  readonly currency: string | null;
  readonly record: (event: CallEventRecord) => void;
  /** What the call has used in another process. Unset: nothing. */
  readonly before?: readonly CallEngineSums[];
}

export class CallUse {
  readonly #options: CallUseOptions;
  readonly #sums = new UseSums();
  #current = newTurn();
  /** The turn that speech may become. What is asked for a sound that is none, such as a cough, counts with the next. */
  #spoken = newTurn();
  readonly #byReply = new Map<number, Turn>();
  readonly #byUtterance = new Map<number, Turn>();
  #nextTurnId: number | null = null;
  #received = 0;
  #open = 0;
  #settled: (() => void) | null = null;
  /** For the events that it records. */
  #state: CallState | null = null;
  #isClosed = false;

  constructor(options: CallUseOptions) {
    this.#options = options;
    this.#sums.resume(options.before ?? []);
  }

  /** Of requests that are over. */
  soFar(): readonly CallEngineSums[] {
    return this.#sums.totals();
  }

  /** After each step of the call's engine, before its effects begin. */
  observe(event: CallEngineEvent, state: CallState, effects: readonly CallEffect[]): void {
    this.#state = state;
    for (const effect of effects) {
      if (effect.type === "openUtterance") this.#byUtterance.set(effect.utteranceId, this.#spoken);
      if (effect.type === "abandonUtterance") this.#leave(effect.utteranceId, state);
    }
    this.#nextTurnId = state.ids.turn;
    if (state.inputs.received > this.#received && isTyped(event)) this.#begin(newTurn());
    this.#received = state.inputs.received;
    for (const effect of effects) {
      if (effect.type === "generateReply" || effect.type === "synthesize") this.#reply(effect.replyId, state);
    }
  }

  ofReply(replyId: number): UseListener {
    return this.#listener(this.#byReply.get(replyId) ?? this.#current);
  }

  ofUtterance(utteranceId: number): UseListener {
    return this.#listener(this.#byUtterance.get(utteranceId) ?? this.#current);
  }

  /** For requests that nobody waits for, such as sentences that are rendered before they are needed. */
  readonly aside: UseListener = {
    begun: () => undefined,
    used: (use) => {
      if (!this.#isClosed) this.#sums.add(use);
    },
  };

  /** Of side threads: they count for the call and for no turn, and the end of the call waits for them. */
  readonly ofThreads: UseListener = {
    begun: () => {
      this.#open += 1;
    },
    used: (use) => {
      if (this.#isClosed) return;
      this.#sums.add(use);
      if (use.requests === 1) this.#ended();
    },
  };

  /** Resolves when all requests are over; they were aborted before. */
  settled(): Promise<void> {
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#settled = resolve));
  }

  /** The call is over: records the last turns. Null: nothing was asked of any engine. */
  close(): CallUseRecord | null {
    for (const turn of [this.#current, this.#spoken]) this.#record(turn);
    this.#isClosed = true;
    const { currency } = this.#options;
    return this.#sums.isEmpty ? null : { currency, engines: this.#sums.read() };
  }

  #listener(given: Turn): UseListener {
    let turn = given;
    // A turn that has open requests is not recorded.
    const find = (): Turn => (turn.isRecorded ? (turn = this.#current) : turn);
    return {
      begun: () => {
        this.#open += 1;
        find().open += 1;
      },
      used: (use) => {
        if (this.#isClosed) return;
        this.#sums.add(use);
        find().sums.add(use);
        if (use.requests === 0) return;
        turn.open -= 1;
        if (turn.isOver && turn.open === 0) this.#record(turn);
        this.#ended();
      },
    };
  }

  #ended(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#settled?.();
  }

  /** The speech is over: it was accepted as a turn, or was none. */
  #leave(utteranceId: number, state: CallState): void {
    const spoken = this.#byUtterance.get(utteranceId);
    this.#byUtterance.delete(utteranceId);
    if (spoken === undefined || state.ids.turn <= (this.#nextTurnId ?? state.ids.turn)) return;
    // Two utterances may have begun before the first of them was accepted.
    const turn = spoken === this.#spoken ? spoken : newTurn();
    turn.turnId = state.ids.turn - 1;
    if (turn === this.#spoken) this.#spoken = newTurn();
    this.#begin(turn);
  }

  #begin(turn: Turn): void {
    const before = this.#current;
    this.#current = turn;
    before.isOver = true;
    if (before.open === 0) this.#record(before);
  }

  #reply(replyId: number, { reply }: CallState): void {
    if (this.#byReply.has(replyId)) return;
    // Begun before the user's words are accepted.
    const isEarly = reply?.replyId === replyId && reply.basis.transcript !== null;
    this.#byReply.set(replyId, isEarly ? this.#spoken : this.#current);
  }

  #record(turn: Turn): void {
    for (const [replyId, other] of this.#byReply) if (other === turn) this.#byReply.delete(replyId);
    if (turn.isRecorded || turn.sums.isEmpty || this.#state === null) return;
    turn.isRecorded = true;
    const { clock, stage } = this.#state;
    const { currency, record } = this.#options;
    const engines = turn.sums.read();
    const cost = costOf(engines, currency);
    record({
      stageId: stage.stageId,
      callTimestampMs: clock.mediaMs,
      wallClockTimestampMs: clock.joinedAtMs === null ? null : clock.atMs - clock.joinedAtMs,
      severity: "debug",
      type: USED_EVENT,
      text: "what a turn has used of its engines",
      extras: {
        turnId: turn.turnId,
        engines: engines.map((engine) => compact(shownEngineUse(engine, currency))),
        ...(cost === null ? {} : { cost }),
      },
    });
  }
}

function newTurn(): Turn {
  return { turnId: null, sums: new UseSums(), open: 0, isOver: false, isRecorded: false };
}

const NOTHING: readonly unknown[] = [null, 0, "0s"];

/** Without what is null or 0: an event of every turn stays small. */
function compact(use: EngineUse): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(use).filter(([, value]) => !NOTHING.includes(value)));
}
