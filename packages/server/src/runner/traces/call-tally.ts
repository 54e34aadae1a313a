/** Counts what the log says of a call at its end. */

import type { CallEffect, MessageRecord } from "../../call/effects.ts";
import { isEngineFailure } from "../../call/call-events.ts";

/** Limit of waits of which the median is taken: the first turns of a call of many hours. */
const WAITS_MAX = 4_096;

export interface CallFigures {
  /** What the user said or wrote and the agent was to answer. */
  readonly turns: number;
  /** From the end of the user's speech to the first sound of the answer; null: no speech was answered. */
  readonly medianWaitMs: number | null;
  /** Failures of engines, and events of the severity `error`. */
  readonly errors: number;
}

export class CallTally {
  readonly #waitsMs: number[] = [];
  #turns = 0;
  #lastMessage = "";
  #errors = 0;

  add(effect: CallEffect): void {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the log says little of a call
    switch (effect.type) {
      case "recordMessage":
        this.#addMessage(effect.message);
        break;
      case "recordTurnLatency": {
        const waitMs = effect.latency.firstPlayedMs;
        if (waitMs !== null && this.#waitsMs.length < WAITS_MAX) this.#waitsMs.push(waitMs);
        break;
      }
      case "recordCallEvent":
        if (effect.event.severity === "error" || isEngineFailure(effect.event.type)) this.#errors += 1;
        break;
      default:
      // Nothing that the log says.
    }
  }

  figures(): CallFigures {
    return { turns: this.#turns, medianWaitMs: median(this.#waitsMs), errors: this.#errors };
  }

  #addMessage({ role, stageId, index }: MessageRecord): void {
    if (role !== "user") return;
    // A message is recorded again when its text changes.
    const message = `${stageId} ${String(index)}`;
    if (message !== this.#lastMessage) this.#turns += 1;
    this.#lastMessage = message;
  }
}

/** The lower one of the two in the middle. */
function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? null;
}
