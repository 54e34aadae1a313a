/**
 * In-memory buffer of the last events of a call, so that a failure can be replayed. The engine's state is immutable, so
 * a reference to an earlier state and the events since then are a complete log.
 */

import type { CallEngineEvent } from "../../call/events.ts";

/**
 * Events of one generation; between one and two generations are kept. A call makes about 32 events a second, mostly
 * voice scores of some 90 bytes: at least the last minute, at most 0.4 MB.
 */
const GENERATION_EVENTS = 2_048;

/** Characters of texts in the events of one generation: typed messages may be long, and a client may send many. */
const GENERATION_CHARS = 1_000_000;

export interface EventLog {
  /** The engine's state before the first of `events`. */
  readonly state: unknown;
  readonly events: readonly CallEngineEvent[];
}

export class EventLogger<State> {
  #older: { readonly state: State; readonly events: CallEngineEvent[] } | null = null;
  #newer: { readonly state: State; readonly events: CallEngineEvent[] };

  #chars = 0;

  constructor(initial: State) {
    this.#newer = { state: initial, events: [] };
  }

  /** @param before the state to which `event` is about to be applied */
  add(before: State, event: CallEngineEvent): void {
    const chars = eventTextLength(event);
    if (this.#newer.events.length >= GENERATION_EVENTS || this.#chars + chars > GENERATION_CHARS) {
      this.#older = this.#newer;
      this.#newer = { state: before, events: [] };
      this.#chars = 0;
    }
    this.#chars += chars;
    this.#newer.events.push(event);
  }

  read(): EventLog {
    const older = this.#older;
    if (older === null) return { state: this.#newer.state, events: [...this.#newer.events] };
    return { state: older.state, events: [...older.events, ...this.#newer.events] };
  }
}

/** Rare events with objects inside, so that serialising them is worth its cost. */
const NESTED: ReadonlySet<CallEngineEvent["type"]> = new Set([
  "dataMessageReceived",
  "replyToolCalled",
  "toolFinished",
  "stagePrepared",
  "adopted",
] as const);

/** Length of the events that can be long; the others have some hundred characters at most. */
export function eventTextLength(event: CallEngineEvent): number {
  if (NESTED.has(event.type)) return JSON.stringify(event).length;
  if ("text" in event) return event.text.length;
  if ("error" in event) return event.error?.length ?? 0;
  if ("detail" in event) return event.detail.length;
  return event.type === "transportProblemNoticed" ? event.problem.length : 0;
}
