/** An engine of a list, with its health. Lists that share an engine share the object. */

import type { Clock } from "../../pacing/clock.ts";
import { Breaker } from "./breaker.ts";

export type ListedKind = "stt" | "llm" | "tts";

/** What became of a request. `overtaken`: another engine answered first, or the request was dropped by the call. */
export type UseOutcome = "answered" | "failed" | "overtaken";

export interface EngineReport {
  readonly name: string;
  /** Requests go to the next engine, apart from a probe now and then. */
  readonly isOut: boolean;
  /** The latest failure since the latest success; null: there was none. */
  readonly error: string | null;
}

/** Voices or models of one engine whose health is kept; the one that was first used is forgotten beyond it. */
const MAX_BREAKERS = 200;
/** Of an error, in reports and events. */
const MAX_ERROR_CHARS = 300;

export class ListedEngine<Engine> {
  readonly name: string;
  readonly engine: Engine;
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #breakers: Map<string, Breaker>;

  /**
   * @param name for people: unique in its list, and without an address or a key
   * @param breakers its health, where it shares that with others
   */
  constructor(
    name: string,
    engine: Engine,
    clock: Pick<Clock, "nowMs">,
    breakers: Map<string, Breaker> = new Map(),
  ) {
    this.#breakers = breakers;
    this.name = name;
    this.engine = engine;
    this.#clock = clock;
  }

  /** @param use a voice or a model of the engine; empty: its own */
  breaker(use: string): Breaker {
    const known = this.#breakers.get(use);
    if (known !== undefined) return known;
    const [oldest] = this.#breakers.keys();
    if (this.#breakers.size >= MAX_BREAKERS && oldest !== undefined) this.#breakers.delete(oldest);
    const breaker = new Breaker(this.#clock);
    this.#breakers.set(use, breaker);
    return breaker;
  }

  report(): EngineReport {
    const breakers = [...this.#breakers.values()];
    const error = breakers.findLast(({ lastError }) => lastError !== null)?.lastError ?? null;
    return {
      name: this.name,
      isOut: breakers.length > 0 && breakers.every(({ state }) => state !== "closed"),
      error: error === null ? null : shortText(error),
    };
  }
}

/** The name of the first engine of a list, which no other one of the list has. */
export function ownName(name: string, others: readonly { readonly name: string }[]): string {
  return others.some((other) => other.name === name) ? `${name} (first)` : name;
}

export function shortText({ message }: Error): string {
  return message.length > MAX_ERROR_CHARS ? `${message.slice(0, MAX_ERROR_CHARS)}…` : message;
}
