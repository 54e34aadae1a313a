/**
 * The last events of a call, kept in memory so that a failure can be replayed. The engine's state is immutable, so a
 * reference to an earlier one and the events since are a complete account.
 */

import type { CallEngineEvent } from "../call/events.ts";

/**
 * Events of one generation; between one and two generations are kept. A call makes about 32 events a second, mostly
 * voice scores of some 90 bytes: at least the last minute, at most 0.4 MB.
 */
const GENERATION_EVENTS = 2_048;

export interface EventLog {
  /** The engine's state before the first of `events`. */
  readonly state: unknown;
  readonly events: readonly CallEngineEvent[];
}

export class EventLogger<State> {
  #older: { readonly state: State; readonly events: CallEngineEvent[] } | null = null;
  #newer: { readonly state: State; readonly events: CallEngineEvent[] };

  constructor(initial: State) {
    this.#newer = { state: initial, events: [] };
  }

  /** @param before the state to which `event` is about to be applied */
  add(before: State, event: CallEngineEvent): void {
    if (this.#newer.events.length >= GENERATION_EVENTS) {
      this.#older = this.#newer;
      this.#newer = { state: before, events: [] };
    }
    this.#newer.events.push(event);
  }

  read(): EventLog {
    const older = this.#older;
    if (older === null) return { state: this.#newer.state, events: [...this.#newer.events] };
    return { state: older.state, events: [...older.events, ...this.#newer.events] };
  }
}
